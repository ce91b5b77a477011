import type { WorkflowId } from '@plangate/contracts';
import { isRedisUnavailable } from '@plangate/redis';
import { type Cursor, comparePositions, cursorAfter } from '../cursor.ts';
import type { EventLog } from './log.ts';
import { encodePage, PAGE, type SubscribeOptions, Subscription } from './subscription.ts';
import { type ChangedOptions, Waiters } from './waiters.ts';

export interface FeedOptions {
  workflowId: WorkflowId;
  log: EventLog;
  /** Resolves once appends wake this feed; nothing is read before, so nothing can be missed. */
  subscribed: Promise<void>;
  /** Asks for a `wake` soon, because Redis did not answer. */
  retryLater(): void;
  /** Nobody reads any more. */
  onIdle(): void;
}

/** A subscriber's end of the hub. */
export interface SubscriptionHandle {
  /** Goes on after `onEvents` said stop; otherwise nothing. */
  resume(): void;
  close(): void;
}

type Position = Cursor & { kind: 'id' };
const START = cursorAfter('0-0');

/**
 * Everybody who reads one workflow in this process. A subscriber first reads the log by itself, page by page
 * (*replaying*), and then joins those who are *live*: for them one reader goes along the log. Each subscriber
 * skips what it has had, so that reader may step back at any time without doubling anything.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #subscriptions = new Set<Subscription>();
  readonly #live = new Set<Subscription>();
  readonly #stalled = new Set<Subscription>();
  readonly #waiters: Waiters;
  /** Position of the reader of the live ones. */
  #head: Position = START;
  #reading = false;
  #again = false;
  /** Counts wake-ups, so that one that came between a read and a join is noticed. */
  #wakes = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#waiters = new Waiters({
      latestSeq: () => options.log.latestSeq(options.workflowId),
      subscribed: options.subscribed,
      onIdle: () => this.#checkIdle(),
    });
  }

  subscribe(options: SubscribeOptions): SubscriptionHandle {
    const subscription = new Subscription(options);
    this.#subscriptions.add(subscription);
    void this.#begin(subscription);
    return {
      resume: () => {
        if (subscription.state !== 'paused') return;
        subscription.state = 'replaying';
        void this.#replay(subscription);
      },
      close: () => {
        subscription.state = 'closed';
        this.#settle(subscription);
      },
    };
  }

  changed(options: ChangedOptions): Promise<boolean> {
    return this.#waiters.wait(options);
  }

  /** Something was appended; `seq` where it is known. Also called to look again after a fault. */
  wake(seq?: number): void {
    this.#wakes += 1;
    this.#waiters.wake(seq);
    for (const subscription of this.#stalled) {
      this.#stalled.delete(subscription);
      void this.#begin(subscription);
    }
    void this.#read();
  }

  /** The store is away: those who wait for an answer get one, streams go on when it is back. */
  down(error: Error): void {
    this.#waiters.fail(error);
  }

  close(error: Error): void {
    this.#waiters.fail(error);
    for (const subscription of this.#subscriptions) {
      subscription.lose(error);
      this.#settle(subscription);
    }
  }

  async #begin(subscription: Subscription): Promise<void> {
    const { log, workflowId, subscribed } = this.#options;
    if (!subscription.begun) {
      try {
        await subscribed;
        const bounds = await log.bounds(workflowId);
        if (subscription.state !== 'replaying') return;
        subscription.begin(bounds);
      } catch (error) {
        this.#stall(subscription, error);
        return;
      }
    }
    if (subscription.state === 'replaying') await this.#replay(subscription);
    else this.#settle(subscription);
  }

  async #replay(subscription: Subscription): Promise<void> {
    const { log, workflowId } = this.#options;
    try {
      while (subscription.state === 'replaying') {
        const wakes = this.#wakes;
        const { after, page: limit } = subscription;
        const page = await log.read(workflowId, { after, limit });
        if (subscription.state !== 'replaying') break;
        subscription.deliver(encodePage(page));
        if (page.length < limit && subscription.state === 'replaying') this.#join(subscription, wakes);
      }
      this.#settle(subscription);
    } catch (error) {
      this.#stall(subscription, error);
    }
  }

  #join(subscription: Subscription, wakes: number): void {
    const { after } = subscription;
    const position = after.kind === 'id' ? after : START;
    const behind = this.#live.size > 0 && comparePositions(position, this.#head) < 0;
    if (this.#live.size === 0 || behind) this.#head = position;
    subscription.state = 'live';
    this.#live.add(subscription);
    if (behind || this.#wakes !== wakes) void this.#read();
  }

  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && this.#live.size > 0) {
        this.#again = false;
        await this.#readPage();
      }
    } catch (error) {
      this.#failed(error, [...this.#live]);
    } finally {
      this.#reading = false;
    }
  }

  async #readPage(): Promise<void> {
    const { log, workflowId } = this.#options;
    const from = this.#head;
    const page = await log.read(workflowId, { after: from, limit: PAGE });
    // Somebody who is further back has joined meanwhile.
    if (this.#head !== from) {
      this.#again = true;
      return;
    }
    const batch = encodePage(page);
    const last = batch.at(-1);
    if (!last) return;
    this.#head = last.position;
    if (page.length === PAGE) this.#again = true;
    for (const subscription of this.#live) {
      subscription.deliver(batch);
      this.#settle(subscription);
    }
  }

  #stall(subscription: Subscription, error: unknown): void {
    if (subscription.state !== 'replaying') this.#settle(subscription);
    else if (this.#failed(error, [subscription])) this.#stalled.add(subscription);
  }

  /** True when it can be tried again; otherwise these subscribers are lost. */
  #failed(error: unknown, subscriptions: Subscription[]): boolean {
    if (isRedisUnavailable(error)) {
      this.#options.retryLater();
      return true;
    }
    for (const subscription of subscriptions) {
      subscription.lose(error instanceof Error ? error : new Error(String(error)));
      this.#settle(subscription);
    }
    return false;
  }

  /** Puts the bookkeeping right after the state of `subscription` may have changed. */
  #settle(subscription: Subscription): void {
    if (subscription.state !== 'live') this.#live.delete(subscription);
    if (subscription.state !== 'closed') return;
    this.#stalled.delete(subscription);
    this.#subscriptions.delete(subscription);
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.#subscriptions.size === 0 && this.#waiters.size === 0) this.#options.onIdle();
  }
}
