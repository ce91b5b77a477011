import type { WorkflowId } from '@plangate/contracts';
import { faultAt, UnreadableStateError } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { reviewKeys } from './keys.ts';

/** What the sweep looks at. */
export interface OpenReview {
  status: string;
  /** Deadline in milliseconds. */
  expiresAt: number;
  /** Id of the decision that the workflow has yet to learn. */
  undelivered: string | null;
  /** How often that decision was sent to the engine, and when last, in milliseconds. */
  sent: { times: number; at: number };
}

/**
 * What the sweep needs of many reviews, in one round trip; null where there is none, the fault where one cannot be
 * read: the others can.
 */
export async function readOpenReviews(
  redis: Redis,
  workflowIds: WorkflowId[],
): Promise<(OpenReview | UnreadableStateError | null)[]> {
  const pipeline = redis.pipeline();
  for (const id of workflowIds) {
    pipeline.hmget(reviewKeys(id).review, 'status', 'expires_ms', 'undelivered', 'sent', 'sent_ms');
  }
  const replies = (await pipeline.exec()) ?? [];
  return replies.map(([error, value], at) => {
    if (error) {
      const id = workflowIds[at];
      const fault = id ? faultAt(reviewKeys(id).review, error) : error;
      if (fault instanceof UnreadableStateError) return fault;
      throw fault;
    }
    const [status, expires, undelivered, times, sentMs] = value as (string | null)[];
    if (!status) return null;
    return {
      status,
      expiresAt: Number(expires),
      undelivered: undelivered ?? null,
      sent: { times: Number(times ?? 0), at: Number(sentMs ?? 0) },
    };
  });
}
