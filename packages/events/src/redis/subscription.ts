import type { WorkflowEvent } from '@plangate/contracts';
import { type Cursor, comparePositions, cursorAfter, type Gap, gapFor } from '../cursor.ts';
import { encodeEvent } from '../sse.ts';
import type { LogBounds } from './log.ts';

/** One event, parsed and encoded; subscribers share it, so it must not be changed. */
export interface Delivery {
  event: WorkflowEvent;
  /** Its SSE frame. */
  frame: string;
  /** The cursor after it. */
  position: Cursor & { kind: 'id' };
}

export interface SubscribeOptions {
  /** What comes strictly after is delivered. */
  after: Cursor;
  /**
   * Events in order, each once. `false` says stop: nothing more comes until `resume()`. A number says stop after so
   * many: the others were not taken, nobody keeps them, and they are read again then.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a listener that never stops returns nothing
  onEvents(batch: readonly Delivery[]): boolean | number | void;
  /** Events between the reader's position and the next batch are no longer kept. */
  onGap(gap: Gap): void;
  /** The subscription has ended before `STREAM_END`; nothing more comes. */
  onLost(error: Error): void;
}

export type SubscriptionState = 'replaying' | 'live' | 'paused' | 'closed';

/** Encodes a page once for everybody. */
export function encodePage(page: WorkflowEvent[]): Delivery[] {
  return page.map((event) => ({
    event,
    frame: encodeEvent(event),
    position: cursorAfter(event.stream_id),
  }));
}

/** Most events that are read at once. */
export const PAGE = 200;
/** The first read of a subscriber: events may have 64 KiB, and many may begin at the same moment. */
const FIRST_PAGE = 10;

/** The position of one subscriber on one log, and what it is told. It holds no events and no timer. */
export class Subscription {
  state: SubscriptionState = 'replaying';
  /** True once `begin` has settled the position. */
  begun = false;
  /** Where the next read begins. */
  after: Cursor;
  /** How many events it reads next: more while it takes all, no more than twice what it took last. */
  page = FIRST_PAGE;
  readonly #options: SubscribeOptions;
  /** Seq that must come next; null while it is not known or its loss has been told. */
  #next: number | null = null;

  constructor(options: SubscribeOptions) {
    this.#options = options;
    this.after = options.after;
  }

  /**
   * Settles where to begin in a log with these bounds, and tells of a gap. A reader that has seen the end gets
   * `STREAM_END` again, because it would wait for ever otherwise. A position beyond the newest event (Redis was
   * restored from older data) counts as the newest.
   */
  begin(bounds: LogBounds | null): void {
    this.begun = true;
    const { after } = this;
    const gap = gapFor(after, bounds);
    if (gap) this.#options.onGap(gap);
    if (!bounds) {
      this.after = { kind: 'start' };
      return;
    }
    const latest = cursorAfter(bounds.latestId);
    if (after.kind === 'id' ? comparePositions(after, latest) >= 0 : seqOf(after) >= bounds.latestSeq) {
      this.after = latest;
      if (bounds.end) this.#hand(encodePage([bounds.end]), true);
    } else if (!gap && after.kind !== 'id') {
      this.#next = seqOf(after) + 1;
    }
  }

  /** Delivers what this subscriber has not had; its state says afterwards whether it takes more. */
  deliver(batch: readonly Delivery[]): void {
    const fresh = this.#fresh(batch);
    const [first, last] = [fresh[0], fresh.at(-1)];
    if (!first || !last) return;
    const gap = this.#gapBefore(first.event, last.event);
    if (gap) this.#next = first.event.seq;
    const taken = this.#hand(fresh, last.event.type === 'STREAM_END', gap);
    this.page = Math.min(PAGE, Math.max(1, 2 * (taken < fresh.length ? taken : this.page)));
    const lastTaken = fresh[taken - 1];
    if (!lastTaken) return;
    this.after = lastTaken.position;
    this.#next = lastTaken.event.seq + 1;
  }

  isClosed(): boolean {
    return this.state === 'closed';
  }

  lose(error: Error): void {
    if (this.isClosed()) return;
    this.state = 'closed';
    this.#options.onLost(error);
  }

  /** How many were taken. A listener that throws loses its own subscription and nobody else's. */
  #hand(batch: readonly Delivery[], isEnd: boolean, gap: Gap | null = null): number {
    try {
      if (gap) this.#options.onGap(gap);
      if (this.isClosed()) return batch.length;
      const more = this.#options.onEvents(batch);
      if (this.isClosed()) return batch.length;
      const taken = typeof more === 'number' ? more : batch.length;
      if (taken < batch.length || more === false) this.state = 'paused';
      if (isEnd && taken === batch.length) this.state = 'closed';
      return taken;
    } catch (error) {
      this.lose(error instanceof Error ? error : new Error(String(error)));
      return 0;
    }
  }

  #fresh(batch: readonly Delivery[]): readonly Delivery[] {
    const { after } = this;
    if (after.kind !== 'id') return batch;
    const from = batch.findIndex(({ position }) => comparePositions(position, after) > 0);
    if (from === 0) return batch;
    return from < 0 ? [] : batch.slice(from);
  }

  /** What was trimmed between two reads, or while paused. */
  #gapBefore(first: WorkflowEvent, last: WorkflowEvent): Gap | null {
    if (this.#next === null || first.seq <= this.#next) return null;
    return this.after.kind === 'id'
      ? { requested: this.after.text, earliest: first.stream_id, latest: last.stream_id }
      : { requested: this.#next - 1, earliest: first.seq, latest: last.seq };
  }
}

function seqOf(cursor: Cursor & { kind: 'start' | 'seq' }): number {
  return cursor.kind === 'seq' ? cursor.seq : 0;
}
