import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ThreadMessages } from '@plangate/contracts';
import { noteWorkflow, principalOf, sendJson, sendReply } from '@plangate/http';
import type { ThreadMessage } from '@plangate/tool-approval';
import { DetailError, unavailable } from '../errors.ts';
import type { AgentParts } from '../parts.ts';
import { threadWorkflowId } from '../thread-id.ts';
import { EngineUnavailable } from '../threads.ts';
import { threadReply } from './turn-reply.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

/** What a thread shows: `GET /hitl/threads/{thread_id}` and `…/messages` (`contract/tool-approval.md §1`). */
export function threadRoutes({ threads }: AgentParts) {
  async function found<T>(
    req: IncomingMessage,
    read: (workflowId: string) => Promise<T | null>,
  ): Promise<[string, T]> {
    const threadId = (req as { params?: { thread_id?: string } }).params?.thread_id ?? '';
    const workflowId = threadWorkflowId(principalOf(req).owner, threadId);
    noteWorkflow(req, workflowId);
    const value = await read(workflowId).catch((error: unknown) => {
      throw error instanceof EngineUnavailable ? unavailable('Task engine unavailable') : error;
    });
    if (value === null) throw new DetailError(404, 'Percakapan tidak ditemukan');
    return [threadId, value];
  }

  return {
    /** While a turn runs, and after one that failed, both `answer` and `pending_review` are null. */
    async read(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const [threadId, { answer, review }] = await found(req, threads.view);
      const reply = threadReply(threadId, answer, review);
      sendReply(res, { ...reply, headers: { ...reply.headers, ...NO_STORE } });
    },

    async messages(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const [threadId, messages] = await found(req, threads.messages);
      const body: ThreadMessages = { thread_id: threadId, messages: messages.map(shown) };
      sendJson(res, 200, body, NO_STORE);
    },
  };
}

/** A message without what is kept for the model's adapter only. */
function shown(message: ThreadMessage): ThreadMessages['messages'][number] {
  if (message.role !== 'assistant') return message;
  const { role, content, tool_calls } = message;
  return { role, content, tool_calls };
}
