import type { HitlAnswer } from '@plangate/contracts';
import type { KeptReply } from '@plangate/http';
import { type PendingReview, StaleReviewError } from '@plangate/tool-approval';
import { DetailError, unavailable } from '../errors.ts';
import type { ModelFault, TurnOutcome } from '../thread-contract.ts';
import type { Turn } from '../threads.ts';

/** The text of 409 while another turn runs (`contract/tool-approval.md §1`). */
const RUNNING = { chat: 'Percakapan sedang diproses', review: 'Keputusan lain sedang diproses' };
const NOTHING_PENDING = 'Tidak ada aksi yang menunggu persetujuan di percakapan ini';

export function runningError(asked: keyof typeof RUNNING): DetailError {
  return new DetailError(409, RUNNING[asked]);
}

/** The text of a chat that was done, and is not done again, once nobody knows its answer any more. */
const GONE_ON = 'Percakapan ini sudah berlanjut';

export function nothingPending(): DetailError {
  return new DetailError(400, NOTHING_PENDING);
}

/** Statuses of the validators' refusals that are not 400. */
const STATUSES: Record<string, number> = { TurnRunningError: 409, StaleReviewError: 412 };

/**
 * The answer to a turn.
 * @throws {DetailError} for every turn that has no answer
 */
export function replyOf(turn: Turn, asked: 'chat' | 'review', threadId: string): KeptReply {
  switch (turn.kind) {
    case 'busy':
      throw runningError(asked);
    case 'superseded':
      throw asked === 'chat'
        ? new DetailError(409, GONE_ON)
        : new DetailError(412, new StaleReviewError().message);
    case 'unknown_thread':
      throw nothingPending();
    case 'refused':
      throw new DetailError(STATUSES[turn.error] ?? 400, turn.text);
    case 'done':
      return outcomeReply(turn.outcome, threadId);
  }
}

/** 200 of every route that shows where a thread is: exactly three keys, and the review's id in the headers. */
export function threadReply(
  threadId: string,
  answer: string | null,
  review: PendingReview | null,
): KeptReply {
  const body: HitlAnswer = { thread_id: threadId, answer, pending_review: review?.request ?? null };
  return {
    status: 200,
    body,
    headers: review ? { 'X-Review-Id': review.id, ETag: `"${review.id}"` } : {},
  };
}

/** True where the same turn may have another outcome when it is tried again. */
export function isPassing(turn: Turn): boolean {
  return turn.kind === 'done' && turn.outcome.kind === 'model_failed';
}

function outcomeReply(outcome: TurnOutcome, threadId: string): KeptReply {
  switch (outcome.kind) {
    case 'answer':
      return threadReply(threadId, outcome.answer, null);
    case 'review':
      return threadReply(threadId, null, outcome.review);
    case 'tool_failed':
      throw new DetailError(500, 'Internal Server Error');
    case 'model_failed':
      throw modelError(outcome.reason);
  }
}

function modelError(reason: ModelFault): DetailError {
  switch (reason) {
    case 'not_configured':
      return unavailable('LLM providers not configured');
    case 'away':
      return unavailable('Model service unavailable');
    case 'failed':
      return new DetailError(502, 'The model provider failed');
  }
}
