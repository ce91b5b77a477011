import type { Redis } from 'ioredis';

/** What {@link Wakeups} tells its owner. */
export interface WakeupListener {
  /** Something was appended to the log of this channel. */
  onMessage(channel: string, message: string): void;
  /** The connection broke; messages may be missed from now on. */
  onDown(): void;
  /** All channels are subscribed again: what was missed can be read now. */
  onUp(): void;
  onError(error: Error): void;
}

/** The one pub/sub connection of a process. A message only says that there is something to read. */
export class Wakeups {
  readonly #connection: Redis;
  readonly #channels = new Set<string>();
  #wasDown = false;

  /** @param redis a connection to copy; it stays usable for commands */
  constructor(redis: Redis, listener: WakeupListener) {
    this.#connection = redis.duplicate({
      enableOfflineQueue: true,
      autoResendUnfulfilledCommands: true,
      maxRetriesPerRequest: null,
      // Subscribing waits for Redis to come back, however long that takes.
      commandTimeout: undefined,
      autoResubscribe: false,
      lazyConnect: false,
    });
    this.#connection.on('message', (channel: string, message: string) =>
      listener.onMessage(channel, message),
    );
    this.#connection.on('close', () => {
      this.#wasDown = true;
      listener.onDown();
    });
    this.#connection.on('error', (error: Error) => listener.onError(error));
    this.#connection.on('ready', () => {
      if (this.#wasDown) void this.#resubscribe(listener);
    });
  }

  /** Resolves once messages of `channel` arrive; while Redis is away it waits. */
  async add(channel: string): Promise<void> {
    this.#channels.add(channel);
    await this.#connection.subscribe(channel);
  }

  remove(channel: string): void {
    this.#channels.delete(channel);
    this.#connection.unsubscribe(channel).catch(() => {
      // The connection is closed, and its subscriptions with it.
    });
  }

  close(): void {
    this.#connection.disconnect();
  }

  /** Ours rather than that of ioredis, because we have to know when it is done. */
  async #resubscribe(listener: WakeupListener): Promise<void> {
    try {
      if (this.#channels.size > 0) await this.#connection.subscribe(...this.#channels);
      listener.onUp();
    } catch (error) {
      listener.onError(error as Error);
    }
  }
}
