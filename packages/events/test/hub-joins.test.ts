import { type Cursor, parseCursor } from '@plangate/events';
import { EventLog } from '@plangate/events/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Feed } from '../src/redis/feed.ts';
import { Listener } from './listener.ts';
import { type Logs, newWorkflow, range, startLogs, step, until } from './log-fixture.ts';

/** The moments at which a reader joins the live ones, each brought about on purpose by holding back a reply. */
const NEVER_MS = 3_600_000;

let logs: Logs;
beforeAll(async () => {
  logs = await startLogs();
});
afterAll(() => logs.stop());

test('an event that is appended after the last page was read and before the reader is live', async () => {
  const id = newWorkflow();
  const log = new HeldLog(logs.redis, { keep: 1_000 });
  const hub = logs.hub(log, { safetyMs: NEVER_MS });
  const empty = log.hold((after) => after.kind === 'start');
  const listener = new Listener(hub, id);
  await empty.reached;
  const woken = hub.changed(id, { afterSeq: 0, timeoutMs: 5_000 });
  await log.append(id, [step(1)]);
  expect(await woken).toBe(true);
  empty.release();
  await until(() => listener.latest === 1);
});

test('a reader that joins behind the live ones gets what they have had, and they get nothing twice', async () => {
  const id = newWorkflow();
  const log = new HeldLog(logs.redis, { keep: 1_000 });
  const hub = logs.hub(log, { safetyMs: NEVER_MS });
  await log.append(
    id,
    range(1, 5).map((n) => step(n)),
  );
  const ahead = new Listener(hub, id);
  await until(() => ahead.latest === 5);

  const page = log.hold((after) => after.kind === 'seq');
  const behind = new Listener(hub, id, { kind: 'seq', seq: 2 });
  await page.reached;
  await log.append(id, [step(6), step(7)]);
  await until(() => ahead.latest === 7);
  page.release();
  await until(() => behind.latest === 7);
  expect(behind.seqs).toEqual(range(3, 7));
  await log.append(id, [step(8)]);
  await until(() => behind.latest === 8 && ahead.latest === 8);
  expect(ahead.seqs).toEqual(range(1, 8));
});

test('a reader that joins behind the live ones while their next page is under way misses nothing', async () => {
  const id = newWorkflow();
  const log = new HeldLog(logs.redis, { keep: 1_000 });
  const hub = logs.hub(log, { safetyMs: NEVER_MS });
  await log.append(
    id,
    range(1, 5).map((n) => step(n)),
  );
  const ahead = new Listener(hub, id);
  await until(() => ahead.latest === 5);

  const page = log.hold((after) => after.kind === 'seq');
  const behind = new Listener(hub, id, { kind: 'seq', seq: 2 });
  await page.reached;
  await log.append(id, [step(6)]);
  await until(() => ahead.latest === 6);
  const next = log.hold((after) => after.kind === 'id' && after.n === 6);
  await log.append(id, [step(7)]);
  await next.reached;
  page.release();
  await until(() => behind.latest === 5);
  next.release();
  await until(() => behind.latest === 7 && ahead.latest === 7);
  expect(behind.seqs).toEqual(range(3, 7));
  expect(ahead.seqs).toEqual(range(1, 7));
  expect([...behind.gaps, ...ahead.gaps]).toEqual([]);
});

test('closing and stopping while a page is under way: nothing is delivered any more, or after going on, once', async () => {
  const id = newWorkflow();
  const log = new HeldLog(logs.redis, { keep: 1_000 });
  const hub = logs.hub(log, { safetyMs: NEVER_MS });
  await log.append(
    id,
    range(1, 3).map((n) => step(n)),
  );
  const page = log.hold((after) => after.kind === 'start');
  const closed = new Listener(hub, id);
  await page.reached;
  closed.handle.close();
  page.release();

  const stopped = new Listener(hub, id);
  stopped.more = () => false;
  await until(() => stopped.latest === 3);
  const rest = log.hold((after) => after.kind === 'id');
  stopped.handle.resume();
  await rest.reached;
  stopped.handle.resume();
  await log.append(id, [step(4)]);
  rest.release();
  await until(() => stopped.latest === 4);
  expect(stopped.seqs).toEqual([1, 2, 3, 4]);
  expect(closed.seqs).toEqual([]);
});

test('nothing is read before appends wake the feed', async () => {
  const id = newWorkflow();
  const log = new HeldLog(logs.redis, { keep: 1_000 });
  const subscribed = Promise.withResolvers<void>();
  const feed = new Feed({
    workflowId: id,
    log,
    subscribed: subscribed.promise,
    retryLater: () => {},
    onIdle: () => {},
  });
  const seqs: number[] = [];
  feed.subscribe({
    after: parseCursor('0')!,
    onEvents: (batch) => void seqs.push(...batch.map(({ event }) => event.seq)),
    onGap: () => {},
    onLost: () => {},
  });
  await log.append(id, [step(1)]);
  expect(log.reads).toBe(0);
  subscribed.resolve();
  await until(() => seqs.length === 1);
  expect(seqs).toEqual([1]);
});

/** A log whose reply to one read can be held back after Redis has given it. */
class HeldLog extends EventLog {
  reads = 0;
  #hold: { matches: (after: Cursor) => boolean; reached(): void; released: Promise<void> } | null = null;

  hold(matches: (after: Cursor) => boolean): { reached: Promise<void>; release(): void } {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#hold = { matches, reached: reached.resolve, released: released.promise };
    return { reached: reached.promise, release: released.resolve };
  }

  override bounds(...args: Parameters<EventLog['bounds']>) {
    this.reads += 1;
    return super.bounds(...args);
  }

  override async read(...args: Parameters<EventLog['read']>) {
    this.reads += 1;
    const page = await super.read(...args);
    const hold = this.#hold;
    if (hold?.matches(args[1].after ?? { kind: 'start' })) {
      this.#hold = null;
      hold.reached();
      await hold.released;
    }
    return page;
  }
}
