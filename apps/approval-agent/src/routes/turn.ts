import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { answerOnce, keyedRequest, principalOf, type Reply } from '@plangate/http';
import { z } from 'zod';
import { unavailable } from '../errors.ts';
import type { AgentParts } from '../parts.ts';
import { EngineUnavailable, type Turn } from '../threads.ts';
import { isPassing, replyOf } from './turn-reply.ts';

/** @typeParam T what a request is about, as it was when the request first came; plain JSON */
export interface TurnRequest<T extends { threadId: string }> {
  asked: 'chat' | 'review';
  target: z.ZodType<T>;
  /** Every attempt with one Idempotency-Key keeps the target that the first one found. */
  findTarget: () => T | Promise<T>;
  /**
   * @param updateId the same for every attempt with one Idempotency-Key, so that the engine does it once
   * @param again true where an earlier attempt may have been taken
   */
  run(target: T, updateId: string, again: boolean): Promise<Turn>;
}

/**
 * Does a turn and answers it, once for each Idempotency-Key: a finished answer is kept, and an attempt that was lost is
 * found again by the id of its Update.
 * @throws {DetailError} for a turn without an answer
 */
export async function answerTurn<T extends { threadId: string }>(
  parts: AgentParts,
  req: IncomingMessage,
  { asked, target, findTarget, run }: TurnRequest<T>,
): Promise<Reply> {
  const { owner } = principalOf(req);
  const request = await keyedRequest(req, { owner, route: `POST /hitl/${asked}` });
  const { idempotency, log } = parts;
  const onFault = (error: unknown) => log.warn({ err: error }, 'idempotency record');
  const Attempt = z.tuple([target, z.string()]);
  const attemptAt = (found: T) => JSON.stringify([found, randomUUID()]);
  return answerOnce({ store: idempotency, request, onFault }, async (ticket) => {
    let again = true;
    const attempt = await ticket.reserve(async () => {
      again = false;
      return attemptAt(await reached(findTarget));
    });
    const [found, updateId] = Attempt.parse(JSON.parse(attempt));
    const turn = await reached(() => run(found, updateId, again));
    if (isPassing(turn)) await ticket.reserveAnew(attemptAt(found)).catch(onFault);
    return replyOf(turn, asked, found.threadId);
  });
}

/** @throws {DetailError} 503 where the engine did not answer */
async function reached<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof EngineUnavailable ? unavailable('Task engine unavailable') : error;
  }
}
