import type { ChatMessage, ChatRequest, ChatToolCall } from '@plangate/contracts';
import { type ChatLanguage, chatLanguageOf } from './language.ts';
import { CHAT_PHRASES } from './phrases.ts';
import { wantedCalls } from './wanted-calls.ts';

/**
 * The next message of the offline provider, by rules alone: a plain sentence that names a tool becomes its call,
 * results become a sentence each, anything else is answered with what it can do. It never asks for a call again.
 */
export function offlineReply({ messages, tools }: Pick<ChatRequest, 'messages' | 'tools'>): {
  content: string;
  tool_calls: ChatToolCall[];
} {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const language = chatLanguageOf(asked);
  const results = newResults(messages);
  if (results.length > 0) return say(results.map((result) => resultSentence(result, language)).join('\n'));

  const { calls, missing } = wantedCalls(asked, tools);
  const phrases = CHAT_PHRASES[language];
  if (calls.length > 0) {
    const tool_calls = calls.map(({ name, args }, index) => ({
      id: `call_${messages.length}_${index + 1}`,
      name,
      args: JSON.stringify(args),
    }));
    return { content: missing.map(phrases.missing).join('\n'), tool_calls };
  }
  if (missing.length > 0) return say(missing.map(phrases.missing).join('\n'));
  return say(phrases.nothing(tools.map(({ name }) => name)));
}

type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;

/** The results that nothing has been said about yet: those after the last message of a person or a model. */
function newResults(messages: readonly ChatMessage[]): ToolMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(last + 1).filter((message) => message.role === 'tool');
}

function resultSentence({ name, content, status }: ToolMessage, language: ChatLanguage): string {
  const text = content.trim();
  return status === 'success'
    ? text || CHAT_PHRASES[language].done(name)
    : CHAT_PHRASES[language].notRun(name, text);
}

function say(content: string): { content: string; tool_calls: ChatToolCall[] } {
  return { content, tool_calls: [] };
}
