import { readFileSync } from 'node:fs';
import type { NewEvent, WorkflowEvent, WorkflowId } from '@plangate/contracts';
import { defineScript, readStored, UnreadableStateError } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { type Bounds, type Cursor, cursorAfter } from '../cursor.ts';
import type { KeyedEvent } from '../keyed-event.ts';
import { appendScript, encodeAppend, mayTrim } from './append.ts';
import { eventKeys } from './keys.ts';

const readAfterSeq = defineScript(
  'events_after_seq',
  readFileSync(new URL('./read-after-seq.lua', import.meta.url), 'utf8'),
);

type Entry = [id: string, fields: string[]];

/** What a log holds, and its `STREAM_END` event once it is closed. */
export interface LogBounds extends Bounds {
  end: WorkflowEvent | null;
}

/**
 * The event log of each workflow, on a Redis stream (`contract/plan-review.md` §3). Every method fails with the
 * error of Redis while that cannot be reached.
 */
export class EventLog {
  readonly #redis: Redis;
  readonly #keep: number;

  /** @param options `keep`: events per workflow that stay however many are written */
  constructor(redis: Redis, options: { keep: number }) {
    this.#redis = redis;
    this.#keep = options.keep;
  }

  /**
   * Appends in one step and wakes the readers; an event whose key the log has is skipped, so an append may be
   * tried again. Returns how many were appended.
   * @param options `trim: false` keeps everything, whatever the types are
   */
  async append(
    workflowId: WorkflowId,
    events: KeyedEvent[],
    options: { trim?: boolean } = {},
  ): Promise<number> {
    const { stream, meta, channel } = eventKeys(workflowId);
    const keep = (options.trim ?? true) && mayTrim(events) ? this.#keep : 0;
    return Number(await appendScript(this.#redis, [stream, meta], [channel, keep, encodeAppend(events)]));
  }

  /** At most `limit` events strictly after the cursor (default: from the first), oldest first. */
  async read(
    workflowId: WorkflowId,
    { after = { kind: 'start' }, limit }: { after?: Cursor; limit: number },
  ): Promise<WorkflowEvent[]> {
    const { stream } = eventKeys(workflowId);
    const entries =
      after.kind === 'seq'
        ? ((await readAfterSeq(this.#redis, [stream], [after.seq, limit])) as Entry[])
        : await this.#redis.xrange(
            stream,
            after.kind === 'id' ? `(${after.ms}-${after.n}` : '-',
            '+',
            'COUNT',
            limit,
          );
    return entries.map((entry) => toEvent(workflowId, entry));
  }

  /** A page for the polling routes: `offset` counts from the oldest event that is kept. */
  async readPage(
    workflowId: WorkflowId,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<WorkflowEvent[]> {
    if (offset === 0) return this.read(workflowId, { limit });
    const [first] = await this.read(workflowId, { limit: 1 });
    if (!first) return [];
    return this.read(workflowId, { after: { kind: 'seq', seq: first.seq - 1 + offset }, limit });
  }

  /** Oldest and newest event, and the end; null for a log without events. */
  async bounds(workflowId: WorkflowId): Promise<LogBounds | null> {
    const { stream } = eventKeys(workflowId);
    const [[first], [last]] = await Promise.all([
      this.#redis.xrange(stream, '-', '+', 'COUNT', 1),
      this.#redis.xrevrange(stream, '+', '-', 'COUNT', 1),
    ]);
    if (!first || !last) return null;
    const latest = toEvent(workflowId, last);
    return {
      earliestSeq: cursorAfter(first[0]).n,
      earliestId: first[0],
      latestSeq: latest.seq,
      latestId: latest.stream_id,
      end: latest.type === 'STREAM_END' ? latest : null,
    };
  }

  /** Seq of the newest event, 0 for none. */
  async latestSeq(workflowId: WorkflowId): Promise<number> {
    return Number((await this.#redis.hget(eventKeys(workflowId).meta, 'seq')) ?? 0);
  }

  /** Lets the whole log disappear after `seconds`; the last call counts. */
  async expire(workflowId: WorkflowId, seconds: number): Promise<void> {
    const { stream, meta } = eventKeys(workflowId);
    await Promise.all([this.#redis.expire(stream, seconds), this.#redis.expire(meta, seconds)]);
  }
}

/** Seq and time are not stored: the id holds both. */
function toEvent(workflowId: WorkflowId, [id, fields]: Entry): WorkflowEvent {
  const { ms, n } = cursorAfter(id);
  const { stream } = eventKeys(workflowId);
  const stored = readStored(stream, () => JSON.parse(fields[1] ?? '') as NewEvent | null);
  // A type that a newer version writes is passed on: readers ignore what they do not know.
  if (typeof stored?.type !== 'string') throw new UnreadableStateError(stream, `${id} is no event`);
  return {
    workflow_id: workflowId,
    type: stored.type,
    agent_id: stored.agent_id,
    message: stored.message,
    ...(stored.payload ? { payload: stored.payload } : {}),
    timestamp: new Date(ms).toISOString(),
    seq: n,
    stream_id: id,
  };
}
