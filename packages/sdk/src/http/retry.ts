import { ConflictError, ConnectionError, StatusError } from './errors.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;

/** True for faults that pass by themselves: another attempt may succeed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof StatusError)) return false;
  if (error.status === 429 || error.status === 503) return true;
  // A proxy whose gateway is away; a 502 of the gateway itself says that a model failed.
  return error.body === null && (error.status === 502 || error.status === 504);
}

/**
 * True where the gateway is still at work on the same change, whose first answer was lost: the only conflict that
 * says when to come back (`contract/plan-review.md` §0).
 */
export function isInProgress(error: unknown): boolean {
  return error instanceof ConflictError && error.retryAfterSeconds !== null;
}

/**
 * Milliseconds to wait before the next attempt: what `Retry-After` says, else growing with the attempts and spread
 * out, so that many clients do not come back at once. Never shorter than the first delay: a date is past already
 * where the clock here is ahead.
 * @param attempt 0 for the wait after the first attempt
 * @param random from 0 to 1
 */
export function retryDelayMs(error: unknown, attempt: number, random: number): number {
  const grown = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  const spreadBy = 0.75 + random / 4;
  const spread = grown * spreadBy;
  const asked = error instanceof StatusError ? error.retryAfterSeconds : null;
  return asked === null ? spread : Math.max(FIRST_DELAY_MS * spreadBy, asked * 1_000 + random * 250);
}
