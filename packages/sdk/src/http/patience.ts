import { TimeoutError } from './errors.ts';
import { pause } from './pause.ts';
import { isPassing, retryDelayMs } from './retry.ts';

/** How long something that once worked may be away before a wait for it is given up, in seconds. */
export const AWAY_SECONDS = 300;

const LONGEST_DELAY_MS = 30_000;

/** Lets a long wait outlive restarts: faults that pass are waited out, once the gateway has been reached. */
export class Patience {
  readonly #limitMs: number;
  readonly #signal: AbortSignal | undefined;
  #reachedAt: number | null = null;
  #failures = 0;

  constructor(awaySeconds: number, signal: AbortSignal | undefined) {
    this.#limitMs = awaySeconds * 1_000;
    this.#signal = signal;
  }

  /** Whether the gateway has answered at all. */
  get reached(): boolean {
    return this.#reachedAt !== null;
  }

  /** The gateway has answered. */
  reach(): void {
    this.#reachedAt = performance.now();
  }

  /** A connection that was open for so long has broken off: the gateway was there until now. */
  lasted(milliseconds: number): void {
    this.reach();
    if (milliseconds > LONGEST_DELAY_MS) this.#failures = 0;
  }

  /** Something came of it: the next fault is the first again. */
  progress(): void {
    this.reach();
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt. That no answer came in time is a fault that passes: the limit was the one of a
   * single look, not of the wait.
   * @param leastMs shortest wait in milliseconds
   * @throws the error where it does not pass, where the gateway has never answered, or has been away for too long
   */
  async afterFault(error: unknown, leastMs: number): Promise<void> {
    this.#signal?.throwIfAborted();
    const passes = isPassing(error) || error instanceof TimeoutError;
    if (!passes || this.#reachedAt === null) throw error;
    if (performance.now() - this.#reachedAt > this.#limitMs) throw error;
    await this.afterBreak(leastMs, retryDelayMs(error, 0, Math.random()));
  }

  /** Waits before coming back to a stream that broke off: longer each time that nothing came of it. */
  async afterBreak(leastMs: number, askedMs = 0): Promise<void> {
    const grownMs = Math.min(LONGEST_DELAY_MS, leastMs * 2 ** this.#failures);
    this.#failures += 1;
    await pause(Math.max(askedMs, grownMs * (0.75 + Math.random() / 4)), this.#signal);
  }
}
