/** A whole number of a query: its range, and what counts where it is left out. */
export interface WholeRange {
  low: number;
  high: number;
  otherwise: number;
}

/** `limit` of a list of tasks (`contract/plan-review.md` §1). */
export const TASK_LIMIT: WholeRange = { low: 1, high: 100, otherwise: 20 };
/** `limit` of a task's events (§1). */
export const EVENT_LIMIT: WholeRange = { low: 1, high: 200, otherwise: 50 };
/** `limit` of a list of sessions (§1). */
export const SESSION_LIMIT: WholeRange = { low: 1, high: 100, otherwise: 20 };
/** `limit` of a session's turns (§1). */
export const TURN_LIMIT: WholeRange = { low: 1, high: 100, otherwise: 10 };
/** `limit` of a session's history: all tasks where it is left out (§1 knows none). */
export const HISTORY_LIMIT: WholeRange = { low: 1, high: 1_000, otherwise: Number.MAX_SAFE_INTEGER };
/** `offset` of every list. */
export const OFFSET: WholeRange = { low: 0, high: Number.MAX_SAFE_INTEGER, otherwise: 0 };
/** `wait` of the read of a review, in seconds (§2.1). */
export const REVIEW_WAIT_SECONDS: WholeRange = { low: 0, high: 25, otherwise: 20 };
