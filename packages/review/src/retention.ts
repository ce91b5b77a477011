import type { ReviewState } from './state.ts';

const APPROVED_SECONDS = 3_600;
const CLOSED_SECONDS = 300;

/**
 * How long a review is kept once its task is over, in seconds from `now` (contract/plan-review.md §2.1): an approved
 * one 60 minutes, another one until 5 minutes after its deadline or after now, whichever is later.
 * @param now the store's clock in milliseconds
 */
export function retentionSeconds(state: Pick<ReviewState, 'status' | 'expires_at'>, now: number): number {
  if (state.status === 'approved') return APPROVED_SECONDS;
  const untilDeadline = Math.max(0, Math.ceil((Date.parse(state.expires_at) - now) / 1_000));
  return untilDeadline + CLOSED_SECONDS;
}
