import { pause } from './pause.ts';
import { isInProgress, isPassing, retryDelayMs } from './retry.ts';

/** How often and for how long something is tried. */
export interface Attempts {
  /** Further attempts after the first one. */
  maxRetries: number;
  /** When it has to be over, by `performance.now()`: no pause goes beyond it. */
  ends: number;
  /** Ends the pauses; after it is aborted there is no further attempt. */
  signal: AbortSignal;
}

/**
 * Tries until there is an answer, again after faults that pass.
 * @throws the fault of the last attempt; the reason of the signal
 */
export async function attempts<T>(
  { maxRetries, ends, signal }: Attempts,
  send: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; ) {
    try {
      return await send();
    } catch (error) {
      // While the first attempt is at work, asking for its answer is no further attempt at it.
      const isAttempt = !isInProgress(error);
      if (signal.aborted || (isAttempt && (attempt >= maxRetries || !isPassing(error)))) throw error;
      const delayMs = retryDelayMs(error, attempt, Math.random());
      if (performance.now() + delayMs > ends) throw error;
      await pause(delayMs, signal);
      if (isAttempt) attempt += 1;
    }
  }
}
