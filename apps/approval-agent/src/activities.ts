import { createHash } from 'node:crypto';
import { type ChatMessage, utf8Bytes } from '@plangate/contracts';
import { type LlmClient, LlmServiceError, type Logger } from '@plangate/service';
import type { CallResult, ThreadMessage } from '@plangate/tool-approval';
import { ToolBox } from '@plangate/tool-approval/tools';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { INTERRUPTED, type ModelFault, type ThreadActivities } from './thread-contract.ts';
import type { AgentTool } from './tools/index.ts';

const HEARTBEAT_EVERY_MS = 2_000;
/** Longest result of a tool in bytes that the model gets to see. */
const RESULT_LIMIT_BYTES = 64 * 1024;

export interface ActivityParts {
  llm: LlmClient;
  tools: readonly AgentTool[];
  systemPrompt: string;
  log: Logger;
}

/** The activities of a thread: one call to the model, one call of a tool. */
export function createActivities({ llm, tools, systemPrompt, log }: ActivityParts): ThreadActivities {
  const box = toolBox(tools);
  const gated = tools.filter(({ approval }) => approval === 'required').map(({ name }) => name);
  const system: ChatMessage[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];

  return {
    askModel: (messages) =>
      withHeartbeat(async () => {
        const { cancellationSignal } = Context.current();
        try {
          const { content, tool_calls } = await llm.chat(
            { messages: [...system, ...messages.map(toChatMessage)], tools: [...box.schemas] },
            cancellationSignal,
          );
          return { reply: { content, tool_calls }, gated };
        } catch (error) {
          if (!(error instanceof LlmServiceError)) throw error;
          log.warn({ kind: error.kind, reason: error.message }, 'model call failed');
          throw failureOf(error);
        }
      }),

    runTool: (order, threadKey) =>
      withHeartbeat(async () => {
        const { cancellationSignal } = Context.current();
        const { name } = order.call;
        const result = await box.execute(order, threadKey, (error) => {
          log.error(
            { tool: name, reason: error instanceof Error ? error.message : typeof error },
            'a tool threw',
          );
        });
        // The process stops, or the time is up: what the tool says then is about that.
        if (result.threw && cancellationSignal.aborted) {
          throw ApplicationFailure.nonRetryable(`${name} was broken off`, INTERRUPTED);
        }
        return bounded(name, result);
      }),
  };
}

function toolBox(tools: readonly AgentTool[]): ToolBox {
  return new ToolBox({
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      execute: (args: Parameters<AgentTool['run']>[0], { threadId, callId }) =>
        tool.run(args, { id: uniqueId(threadId, callId), signal: Context.current().cancellationSignal }),
    })),
    toolsRequiringApproval: tools.flatMap(({ name, approval }) => (approval === 'required' ? [name] : [])),
  });
}

/** Ids of calls come from the model: what is named after a call gets a name that no text can choose. */
function uniqueId(threadKey: string, callId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([threadKey, callId]))
    .digest('hex')
    .slice(0, 32);
}

function bounded(tool: string, result: CallResult): CallResult {
  if (utf8Bytes(result.content) <= RESULT_LIMIT_BYTES) return result;
  return {
    ...result,
    content: `Error: ${tool} was executed, but its result is longer than 64 KiB.`,
    status: 'error',
  };
}

function toChatMessage(message: ThreadMessage): ChatMessage {
  if (message.role !== 'assistant') return message;
  return {
    role: 'assistant',
    content: message.content,
    tool_calls: message.tool_calls.map(({ id, name, args, invalid_args }) => ({
      id,
      name,
      args: invalid_args ?? JSON.stringify(args),
    })),
  };
}

/** While llm-service is away the engine asks again; a model that failed has had its retries there. */
function failureOf({ kind, message, status }: LlmServiceError): ApplicationFailure {
  const refused: ModelFault = status === 503 ? 'not_configured' : 'failed';
  const type = kind === 'refused' ? refused : kind;
  return ApplicationFailure.create({ message, type, nonRetryable: kind !== 'away' });
}

/** So that a process that died is noticed within seconds. */
async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  context.heartbeat();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
