import type { ReviewStatus } from '@plangate/contracts';

/** An approved review can be read this long after its task has ended. */
const APPROVED_SECONDS = 3_600;
/** A review that was closed otherwise can be read this long after its deadline, or after now. */
const CLOSED_SECONDS = 300;

/**
 * Seconds from now for which the review of a task that is over is kept, at least 1; only where no decision of it is
 * undelivered (contract/plan-review.md §2.1). All times are milliseconds since 1970.
 */
export function retentionSeconds(review: {
  status: ReviewStatus;
  expiresAt: number;
  taskEndedAt: number;
  now: number;
}): number {
  const { status, expiresAt, taskEndedAt, now } = review;
  const until =
    status === 'approved'
      ? taskEndedAt + APPROVED_SECONDS * 1_000
      : Math.max(expiresAt, now) + CLOSED_SECONDS * 1_000;
  return Math.max(1, Math.ceil((until - now) / 1_000));
}
