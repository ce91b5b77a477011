import { type Refusal, refuse } from '@plangate/contracts';

/** Longest pause in milliseconds between two steps of a request. */
const LONGEST_PAUSE_MS = 10_000;

/**
 * Notices that the process was stopped for long between two steps of a request: what it saw before is too old to
 * act on (design rule 5). Time spent waiting for a model is not counted: call `step` after it.
 */
export class Pace {
  readonly #now: () => number;
  #last: number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#last = now();
  }

  /** Starts the next step. */
  step(): void {
    this.#last = this.#now();
  }

  /** The refusal where the step took too long, else null; starts the next step. */
  check(): Refusal | null {
    const pause = this.#now() - this.#last;
    this.step();
    return pause > LONGEST_PAUSE_MS
      ? refuse(503, 'request_stalled', 'The request took too long; please send it again')
      : null;
  }
}
