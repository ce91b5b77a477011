import type { Owner } from '@plangate/contracts';

interface Stream {
  tick(): void;
  breakOff(): void;
}

/**
 * The event streams that are open in this process: one clock for all, how many each user has, and their end when the
 * process stops. The limit of a user is per process, because it guards what is in one: its sockets and memory. With
 * several gateways it is that often as high. A count that they shared would have to lease its places, and after a
 * gateway was killed its readers would be refused by the next one until the leases are over; an EventSource that is
 * answered 429 never comes back.
 */
export class OpenStreams {
  readonly #streams = new Set<Stream>();
  readonly #counts = new Map<string, number>();
  readonly #clock: NodeJS.Timeout;

  constructor({ tickMs }: { tickMs: number }) {
    this.#clock = setInterval(() => {
      for (const stream of this.#streams) stream.tick();
    }, tickMs).unref();
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Takes one place of a user's, or none where all are taken.
   * @returns what gives the place back, once
   */
  reserve(owner: Owner, most: number): (() => void) | null {
    const key = JSON.stringify([owner.tenant, owner.user]);
    const count = this.#counts.get(key) ?? 0;
    if (count >= most) return null;
    this.#counts.set(key, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  add(stream: Stream): void {
    this.#streams.add(stream);
  }

  remove(stream: Stream): void {
    this.#streams.delete(stream);
  }

  /** Breaks every stream off: the process stops, and their readers come back to another one. */
  close(): void {
    clearInterval(this.#clock);
    for (const stream of [...this.#streams]) stream.breakOff();
  }
}
