import type { WorkflowId } from '@plangate/contracts';
import type { Redis } from 'ioredis';
import { Feed, type SubscriptionHandle } from './feed.ts';
import { eventKeys } from './keys.ts';
import type { EventLog } from './log.ts';
import type { SubscribeOptions } from './subscription.ts';
import type { ChangedOptions } from './waiters.ts';
import { Wakeups } from './wakeups.ts';

export interface EventHubOptions {
  log: EventLog;
  /** Copied for a connection of the hub's own. */
  subscriber: Redis;
  /** Told of faults of that connection; the hub recovers by itself. */
  onError?: (error: Error) => void;
  /** How often every log that somebody reads is read again without a wake-up (a half-open connection). */
  safetyMs?: number;
  /** Wait before the next attempt while Redis does not answer. */
  retryMs?: number;
}

/**
 * Hands the events of all workflows to all who listen in this process: one pub/sub connection, one reader per
 * workflow, each live event read, parsed and encoded once. Messages only wake; what is delivered always comes
 * from the log, so a lost message loses nothing. After a fault of Redis every subscriber goes on from its own
 * position.
 */
export class EventHub {
  readonly #log: EventLog;
  readonly #wakeups: Wakeups;
  readonly #feeds = new Map<string, Feed>();
  readonly #safety: NodeJS.Timeout;
  readonly #retryMs: number;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor({ log, subscriber, onError, safetyMs = 5_000, retryMs = 250 }: EventHubOptions) {
    this.#log = log;
    this.#retryMs = retryMs;
    this.#wakeups = new Wakeups(subscriber, {
      onMessage: (channel, message) => this.#feeds.get(channel)?.wake(Number(message)),
      onDown: () => this.#each((feed) => feed.down(new Error('Connection is closed.'))),
      onUp: () => this.#wakeAll(),
      onError: (error) => onError?.(error),
    });
    this.#safety = setInterval(() => this.#wakeAll(), safetyMs).unref();
  }

  /**
   * Delivers the events of a workflow strictly after a cursor: first those in the log, then each as it is
   * appended; none twice, none lost, in order. Ends by itself with `STREAM_END`. The caller has checked that
   * the workflow exists and belongs to whoever asks.
   */
  subscribe(workflowId: WorkflowId, options: SubscribeOptions): SubscriptionHandle {
    return this.#feed(workflowId).subscribe(options);
  }

  /**
   * True as soon as the log has an event after `afterSeq`, false after `timeoutMs` or an abort. Woken, not polled.
   * @throws the error of Redis where it cannot be reached, or cannot any more
   */
  changed(workflowId: WorkflowId, options: ChangedOptions): Promise<boolean> {
    return this.#feed(workflowId).changed(options);
  }

  /** Ends every subscription with `onLost`, every wait with an error, and the connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#safety);
    if (this.#retry) clearTimeout(this.#retry);
    this.#each((feed) => feed.close(new Error('The event hub is closed')));
    this.#wakeups.close();
  }

  #feed(workflowId: WorkflowId): Feed {
    if (this.#closed) throw new Error('The event hub is closed');
    const { channel } = eventKeys(workflowId);
    const existing = this.#feeds.get(channel);
    if (existing) return existing;

    const subscribed = this.#wakeups.add(channel);
    // Whoever waits for it sees the error; without anybody waiting it must not end the process.
    subscribed.catch(() => {});
    const feed = new Feed({
      workflowId,
      log: this.#log,
      subscribed,
      retryLater: () => this.#retryLater(),
      onIdle: () => this.#release(channel, feed),
    });
    this.#feeds.set(channel, feed);
    return feed;
  }

  #release(channel: string, feed: Feed): void {
    if (this.#feeds.get(channel) !== feed) return;
    this.#feeds.delete(channel);
    if (!this.#closed) this.#wakeups.remove(channel);
  }

  #wakeAll(): void {
    this.#each((feed) => feed.wake());
  }

  #retryLater(): void {
    if (this.#retry || this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#wakeAll();
    }, this.#retryMs).unref();
  }

  #each(action: (feed: Feed) => void): void {
    for (const feed of [...this.#feeds.values()]) action(feed);
  }
}
