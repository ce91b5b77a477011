import {
  type ChatAnswer,
  type ChatMessage,
  type ChatRequest,
  type ChatToolCall,
  cleanText,
  isBlank,
  isTooDeep,
  MODEL_TEXT_LIMIT_BYTES,
  type ModelUsage,
  TOOL_ARGS_LIMIT_BYTES,
  TOOL_CALLS_LIMIT,
  utf8Bytes,
} from '@plangate/contracts';
import {
  generateText,
  type JSONValue,
  jsonSchema,
  type LanguageModel,
  type LanguageModelMiddleware,
  type ModelMessage,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai';
import { ProviderFailure } from '../agent.ts';
import { asFailure, callLimits, usageOf } from './generate.ts';

/** Asks the model that the request wants for its next message. */
export type Converse = (request: ChatRequest) => Promise<ChatAnswer>;

const FINISHED: readonly string[] = ['stop', 'tool-calls', 'other'];

/**
 * The next message of a model that may call tools. No tool is run here, and the arguments of a call are the text that
 * the provider sent, whether or not it is JSON: who runs the tool has to know what the model wrote.
 * @throws {ProviderFailure} for everything that `contract/plan-review.md §5` calls a failure
 */
export async function converse(
  model: LanguageModel,
  names: Pick<ModelUsage, 'model' | 'provider'>,
  { messages, tools }: ChatRequest,
  timeoutSeconds: number,
): Promise<ChatAnswer> {
  const written: ChatToolCall[] = [];
  const instructions = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const result = await generateText({
    model: keepingCalls(model, written),
    ...(instructions.length > 0 ? { instructions: instructions.join('\n\n') } : {}),
    messages: messages.flatMap(toModelMessage),
    ...(tools.length > 0 ? { tools: toolSet(tools) } : {}),
    ...callLimits(timeoutSeconds),
  }).catch((error: unknown) => {
    throw asFailure(error);
  });
  if (!FINISHED.includes(result.finishReason)) {
    throw new ProviderFailure(`finish reason ${result.finishReason}`);
  }
  const content = cleanText(result.text);
  if (utf8Bytes(content) > MODEL_TEXT_LIMIT_BYTES) throw new ProviderFailure('text too long');
  if (written.length > TOOL_CALLS_LIMIT) throw new ProviderFailure('too many tool calls');
  if (written.some(({ args }) => utf8Bytes(args) > TOOL_ARGS_LIMIT_BYTES)) {
    throw new ProviderFailure('arguments too long');
  }
  if (written.length === 0 && isBlank(content)) throw new ProviderFailure('empty text');
  return { content: content.trim(), tool_calls: written, ...usageOf(names, result.usage) };
}

/** The SDK gives out parsed arguments only; their text is taken from the provider's answer before that. */
function keepingCalls(model: LanguageModel, written: ChatToolCall[]): LanguageModel {
  const middleware: LanguageModelMiddleware = {
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      written.length = 0;
      for (const part of result.content) {
        if (part.type === 'tool-call' && !part.providerExecuted) {
          written.push({ id: part.toolCallId, name: part.toolName, args: part.input });
        }
      }
      return result;
    },
  };
  if (typeof model === 'string' || model.specificationVersion === 'v2') {
    throw new Error('the model is not one that languageModel() made');
  }
  return wrapLanguageModel({ model, middleware });
}

function toolSet(tools: ChatRequest['tools']): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
}

function toModelMessage(message: ChatMessage): ModelMessage[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return [{ role: 'user', content: message.content }];
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: [
            ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
            ...message.tool_calls.map(({ id, name, args }) => ({
              type: 'tool-call' as const,
              toolCallId: id,
              toolName: name,
              input: readArgs(args),
            })),
          ],
        },
      ];
    case 'tool':
      return [
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: message.tool_call_id,
              toolName: message.name,
              // As text also where it is an error: the SDK would wrap that one, and a reason has to arrive as it was given.
              output: { type: 'text', value: message.content },
            },
          ],
        },
      ];
  }
}

/** Providers take a JSON object back only; the result of a call that was none says what was wrong with it. */
function readArgs(text: string): JSONValue {
  try {
    const value: JSONValue = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !isTooDeep(value)
      ? value
      : {};
  } catch {
    return {};
  }
}
