import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { answerOnce, keyedRequest, principalOf, type Reply } from '@plangate/http';
import { unavailable } from '../errors.ts';
import type { AgentParts } from '../parts.ts';
import { EngineUnavailable, type Turn } from '../threads.ts';
import { isPassing, replyOf } from './turn-reply.ts';

export interface TurnRequest {
  asked: 'chat' | 'review';
  /** The thread where the request names none. */
  newThreadId: () => string;
  /**
   * @param updateId the same for every attempt with one Idempotency-Key, so that the engine does it once
   * @param again true where an earlier attempt may have been taken
   */
  run(threadId: string, updateId: string, again: boolean): Promise<Turn>;
}

/**
 * Does a turn and answers it, once for each Idempotency-Key: a finished answer is kept, and an attempt that was lost is
 * found again by the id of its Update.
 * @throws {DetailError} for a turn without an answer
 */
export async function answerTurn(
  parts: AgentParts,
  req: IncomingMessage,
  { asked, newThreadId, run }: TurnRequest,
): Promise<Reply> {
  const { owner } = principalOf(req);
  const request = await keyedRequest(req, { owner, route: `POST /hitl/${asked}` });
  const { idempotency, log } = parts;
  const onFault = (error: unknown) => log.warn({ err: error }, 'idempotency record');
  return answerOnce({ store: idempotency, request, onFault }, async (ticket) => {
    const attempt = (threadId: string) => JSON.stringify([threadId, randomUUID()]);
    const fresh = attempt(newThreadId());
    const name = await ticket.reserve(fresh);
    const [threadId, updateId] = JSON.parse(name) as [string, string];
    const turn = await run(threadId, updateId, name !== fresh).catch((error: unknown) => {
      throw error instanceof EngineUnavailable ? unavailable('Task engine unavailable') : error;
    });
    if (isPassing(turn)) await ticket.reserveAnew(attempt(threadId)).catch(onFault);
    return replyOf(turn, asked, threadId);
  });
}
