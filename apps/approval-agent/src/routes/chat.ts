import type { IncomingMessage, ServerResponse } from 'node:http';
import { utf8Bytes } from '@plangate/contracts';
import { noteWorkflow, principalOf, sendReply } from '@plangate/http';
import { checkMessage, EmptyMessageError, newThread } from '@plangate/tool-approval';
import { z } from 'zod';
import { DetailError } from '../errors.ts';
import type { AgentParts } from '../parts.ts';
import { newThreadId, threadWorkflowId } from '../thread-id.ts';
import { readChatBody } from '../validation/bodies.ts';
import { readJson } from '../validation/json-body.ts';
import { answerTurn } from './turn.ts';

/** Longest message in bytes. */
const MESSAGE_LIMIT_BYTES = 64 * 1024;
const Target = z.object({ threadId: z.string() });

/** `POST /hitl/chat` (`contract/tool-approval.md §1`). */
export function chatRoute(parts: AgentParts) {
  const { threads, limits } = parts;
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { message, threadId } = readChatBody(await readJson(req));
    requireSaid(message);
    const { owner } = principalOf(req);
    const reply = await answerTurn(parts, req, {
      asked: 'chat',
      target: Target,
      findTarget: () => ({ threadId: threadId ?? newThreadId() }),
      run: async ({ threadId: id }, updateId, again) => {
        const workflowId = threadWorkflowId(owner, id);
        noteWorkflow(req, workflowId);
        const done = again ? await threads.outcome(workflowId, updateId) : null;
        return done ?? threads.chat(workflowId, { message, limits }, updateId);
      },
    });
    sendReply(res, reply);
  };
}

/** Before the thread is looked at, and before a new one is begun. */
function requireSaid(message: string): void {
  try {
    checkMessage(newThread(), message);
  } catch (error) {
    if (error instanceof EmptyMessageError) throw new DetailError(400, error.message);
    throw error;
  }
  if (utf8Bytes(message) > MESSAGE_LIMIT_BYTES) {
    throw new DetailError(413, `Message is longer than ${MESSAGE_LIMIT_BYTES} bytes`);
  }
}
