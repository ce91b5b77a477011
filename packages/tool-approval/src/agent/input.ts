import { isJsonObject } from '@plangate/contracts/json';

/** What a person says: text, or a message in one of the usual spellings. */
export type InputMessage =
  | string
  | { role: 'user' | 'human'; content: string }
  | { type: 'human'; content: string };

export interface ChatInput {
  messages: readonly InputMessage[] | InputMessage;
}

/**
 * The texts of an input. Only a person's messages can be put in: what the model or a tool said is nobody's to say.
 * @throws {TypeError} where something else is among them
 */
export function textsOf(input: ChatInput): string[] {
  const messages: unknown = isJsonObject(input) ? input.messages : undefined;
  const list: unknown[] = Array.isArray(messages) ? messages : [messages];
  const texts = list.map(textOf);
  if (texts.length === 0) throw new TypeError('an input has at least one message');
  return texts;
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  const { role, type, content } = Object(message) as Record<string, unknown>;
  const said = role === 'user' || role === 'human' || (role === undefined && type === 'human');
  if (said && typeof content === 'string') return content;
  throw new TypeError("a message of an input is text or {role: 'user', content: text}");
}
