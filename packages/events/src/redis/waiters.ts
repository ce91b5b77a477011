export interface ChangedOptions {
  /** Seq of the newest event that the caller knows. */
  afterSeq: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

interface WaitersOptions {
  latestSeq(): Promise<number>;
  /** Resolves once every append wakes. */
  subscribed: Promise<void>;
  /** Called whenever a wait ends. */
  onIdle(): void;
}

interface Waiter {
  afterSeq: number;
  resolve(changed: boolean): void;
  reject(error: unknown): void;
}

/** Callers that wait until one log has grown beyond what they know. */
export class Waiters {
  readonly #options: WaitersOptions;
  readonly #waiting = new Set<Waiter>();

  constructor(options: WaitersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * True as soon as the log has an event after `afterSeq`; false after the time-out or an abort.
   * @throws the error of Redis where it cannot be reached, or cannot any more
   */
  async wait({ afterSeq, timeoutMs, signal }: ChangedOptions): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { afterSeq, resolve, reject };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, timeoutMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    this.#waiting.add(waiter);
    this.#look(waiter).catch(reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      this.#waiting.delete(waiter);
      this.#options.onIdle();
    }
  }

  /** The log may have grown, up to `seq` where that is known. */
  wake(seq?: number): void {
    for (const waiter of this.#waiting) {
      if (seq === undefined) this.#compare(waiter).catch(waiter.reject);
      else if (seq > waiter.afterSeq) waiter.resolve(true);
    }
  }

  fail(error: Error): void {
    for (const waiter of this.#waiting) waiter.reject(error);
  }

  /** Looks twice: at once, so that a store that is away is noticed, and when no append can be missed any more. */
  async #look(waiter: Waiter): Promise<void> {
    await this.#compare(waiter);
    await this.#options.subscribed;
    await this.#compare(waiter);
  }

  async #compare(waiter: Waiter): Promise<void> {
    if ((await this.#options.latestSeq()) > waiter.afterSeq) waiter.resolve(true);
  }
}
