import { encodeEvent, parseCursor } from '@plangate/events';
import { EventLog, eventKeys } from '@plangate/events/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Listener } from './listener.ts';
import { END, type Logs, newWorkflow, range, startLogs, step, until } from './log-fixture.ts';

/** Far beyond the time of a test: what arrives was woken, not polled. */
const NEVER_MS = 3_600_000;

let logs: Logs;
beforeAll(async () => {
  logs = await startLogs();
});
afterAll(() => logs.stop());

describe('subscribe', () => {
  test('P115 subscribers of one process and of another all get every event once, in order, while appends run', async () => {
    const id = newWorkflow();
    const log = logs.log();
    const [hub, otherProcess] = [logs.hub(log, { safetyMs: NEVER_MS }), logs.hub(log)];
    await log.append(
      id,
      range(1, 450).map((n) => step(n)),
    );
    const listeners = [new Listener(hub, id), new Listener(hub, id), new Listener(otherProcess, id)];
    await Promise.all(range(1, 150).map((n) => log.append(id, [step(n), step(n)])));
    await log.append(id, [END]);
    for (const listener of listeners) {
      await until(() => listener.latest === 751);
      expect(listener.seqs).toEqual(range(1, 751));
      expect(listener.lost).toEqual([]);
    }
    const [one] = listeners[0]!.deliveries;
    expect(one!.frame).toBe(encodeEvent(one!.event));
  });

  test('readers that join, stop, go on and leave at any time get what follows their cursor, once and in order', async () => {
    const id = newWorkflow();
    const log = logs.log(100_000);
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    let appended = 0;
    const write = async () => {
      while (appended < 1_500) {
        appended += 3;
        await log.append(id, [step(1), step(2), step(3)]);
      }
    };
    const random = generator(42);
    const readers: { listener: Listener; from: number }[] = [];
    const join = async () => {
      while (readers.length < 120) {
        const from = Math.floor(random() * (appended + 1));
        const [event] = from ? await log.read(id, { after: { kind: 'seq', seq: from - 1 }, limit: 1 }) : [];
        const cursor =
          event && random() < 0.5 ? parseCursor(event.stream_id)! : { kind: 'seq' as const, seq: from };
        if (cursor.kind === 'seq' && from > ((await log.latestSeq(id)) || 0)) continue;
        const listener = new Listener(hub, id, cursor);
        listener.more = () => {
          if (random() < 0.8) return true;
          setImmediate(() => listener.handle.resume());
          return false;
        };
        readers.push({ listener, from });
        if (random() < 0.2) listener.handle.close();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([write(), write(), join()]);
    await log.append(id, [END]);
    const last = (await log.bounds(id))!.latestSeq;
    let complete = 0;
    for (const { listener, from } of readers) {
      if (listener.deliveries.length === 0) continue;
      await until(() => listener.latest === last);
      expect(listener.seqs).toEqual(range(from + 1, last));
      expect(listener.gaps).toEqual([]);
      complete += 1;
    }
    expect(complete).toBeGreaterThan(80);
  });

  test('each live event is read and encoded once for all subscribers', async () => {
    const id = newWorkflow();
    const log = new CountingLog(logs.redis, { keep: 1_000 });
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    const listeners = range(1, 50).map(() => new Listener(hub, id));
    await log.append(id, [step(1)]);
    await until(() => listeners.every((listener) => listener.latest === 1));
    await until(() => log.settled);
    const before = log.reads;
    await log.append(id, [step(2)]);
    await until(() => listeners.every((listener) => listener.latest === 2));
    expect(log.reads - before).toBe(1);
    const [first, ...others] = listeners.map((listener) => listener.deliveries[1]);
    for (const other of others) expect(other).toBe(first);
  });

  test('a reader that says stop gets nothing more and reads nothing ahead until it goes on', async () => {
    const id = newWorkflow();
    const log = new CountingLog(logs.redis, { keep: 10_000 });
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    await log.append(
      id,
      range(1, 1_000).map((n) => step(n)),
    );
    const [slow, fast] = [new Listener(hub, id), new Listener(hub, id)];
    slow.more = () => false;
    await until(() => fast.latest === 1_000);
    await log.append(id, [step(1_001)]);
    await until(() => fast.latest === 1_001 && log.settled);
    expect(slow.latest).toBe(10);
    const before = log.reads;
    slow.handle.resume();
    slow.handle.resume();
    await until(() => slow.latest === 30 && log.settled);
    expect(log.reads - before).toBe(1);
    slow.more = () => true;
    slow.handle.resume();
    await until(() => slow.latest === 1_001);
    expect(slow.seqs).toEqual(range(1, 1_001));
    await log.append(id, [step(1_002)]);
    await until(() => slow.latest === 1_002);
  });

  test('what a reader did not take is kept by nobody, and read again in pieces of its size', async () => {
    const id = newWorkflow();
    const log = new CountingLog(logs.redis, { keep: 1_000 });
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    await log.append(
      id,
      range(1, 50).map((n) => step(n)),
    );
    const taken: number[] = [];
    const offered: number[] = [];
    const handle = hub.subscribe(id, {
      after: { kind: 'start' },
      onEvents(batch) {
        offered.push(batch.length);
        const few = batch.slice(0, 3);
        taken.push(...few.map(({ event }) => event.seq));
        return few.length;
      },
      onGap: () => expect.unreachable(),
      onLost: () => expect.unreachable(),
    });
    while (taken.length < 50) {
      const before = taken.length;
      handle.resume();
      await until(() => taken.length > before);
    }
    expect(taken).toEqual(range(1, 50));
    expect(Math.max(...offered.slice(1))).toBeLessThanOrEqual(6);
    handle.close();
  });

  test('P56 the gap comes before the rest, also for a reader that the trimming overtook while it had stopped', async () => {
    const id = newWorkflow();
    const log = logs.log(2);
    const hub = logs.hub(log);
    await log.append(
      id,
      range(1, 4).map((n) => step(n)),
    );
    const late = new Listener(hub, id, { kind: 'seq', seq: 1 });
    await until(() => late.latest === 4);
    expect(late.gaps).toEqual([{ requested: 1, earliest: 3, latest: 4 }]);
    expect(late.seqs).toEqual([3, 4]);

    late.more = () => false;
    await log.append(id, [step(5)]);
    await until(() => late.latest === 5);
    const { stream_id: requested } = late.deliveries.at(-1)!.event;
    await log.append(
      id,
      range(6, 9).map((n) => step(n)),
    );
    late.handle.resume();
    await until(() => late.latest === 9);
    const [eight, nine] = late.deliveries.slice(-2).map(({ event }) => event.stream_id);
    expect(late.gaps.slice(1)).toEqual([{ requested, earliest: eight, latest: nine }]);
    expect(late.seqs).toEqual([3, 4, 5, 8, 9]);
  });

  test('after STREAM_END nothing more is delivered and the channel is left', async () => {
    const id = newWorkflow();
    const log = logs.log();
    const hub = logs.hub(log);
    const listener = new Listener(hub, id);
    await log.append(id, [step(1), END, step(2)]);
    await until(() => listener.latest === 2);
    listener.handle.resume();
    const { channel } = eventKeys(id);
    await until(async () => (await logs.redis.pubsub('NUMSUB', channel))[1] === 0);
    expect(listener.seqs).toEqual([1, 2]);
    expect(listener.lost).toEqual([]);
  });

  test.each(['2', '3', '99', '99999999999999-1'])(
    'P41 a reader that comes back after the end, with cursor %s, gets the end again instead of waiting',
    async (cursor) => {
      const id = newWorkflow();
      const log = logs.log();
      await log.append(id, [step(1), step(2), END]);
      const listener = new Listener(logs.hub(log), id, parseCursor(cursor)!);
      await until(() => listener.latest === 3);
      expect(listener.seqs).toEqual([3]);
      expect(listener.gaps).toEqual([]);
    },
  );

  test('a cursor beyond the newest event gets what comes, and holds up nobody else', async () => {
    const id = newWorkflow();
    const log = logs.log();
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    await log.append(id, [step(1)]);
    const ahead = [parseCursor('99999999999999-1')!, parseCursor('50')!].map((c) => new Listener(hub, id, c));
    const other = new Listener(hub, id);
    await until(() => other.latest === 1);
    await log.append(id, [step(2)]);
    await until(() => [other, ...ahead].every((listener) => listener.latest === 2));
    expect(ahead.map((listener) => listener.seqs)).toEqual([[2], [2]]);
    expect(other.seqs).toEqual([1, 2]);
  });

  test('a listener that throws loses its own subscription only', async () => {
    const id = newWorkflow();
    const log = logs.log();
    const hub = logs.hub(log);
    const [broken, sound] = [new Listener(hub, id), new Listener(hub, id)];
    await log.append(id, [step(1)]);
    await until(() => broken.latest === 1 && sound.latest === 1);
    broken.more = () => {
      throw new Error('socket gone');
    };
    await log.append(id, [step(2)]);
    await until(() => sound.latest === 2);
    await log.append(id, [step(3)]);
    await until(() => sound.latest === 3);
    expect(broken.lost.map((error) => error.message)).toEqual(['socket gone']);
    expect(broken.seqs).toEqual([1, 2]);
  });

  test('a log that cannot be read, and the end of the hub, are told', async () => {
    const id = newWorkflow();
    const hub = logs.hub(logs.log());
    await logs.redis.set(eventKeys(id).stream, 'no stream');
    const broken = new Listener(hub, id);
    await until(() => broken.lost.length === 1);
    expect(broken.lost[0]!.message).toMatch(/WRONGTYPE/);

    const open = new Listener(hub, newWorkflow());
    hub.close();
    expect(open.lost.map((error) => error.message)).toEqual(['The event hub is closed']);
    expect(() => new Listener(hub, id)).toThrow('The event hub is closed');
  });
});

describe('changed', () => {
  test('is woken by an append, well under a second, without looking again by itself', async () => {
    const id = newWorkflow();
    const log = new CountingLog(logs.redis, { keep: 1_000 });
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    await log.append(id, [step(1)]);
    const waits = range(1, 20).map(() => hub.changed(id, { afterSeq: 1, timeoutMs: 20_000 }));
    await until(async () => (await logs.redis.pubsub('NUMSUB', eventKeys(id).channel))[1] === 1);
    await until(() => log.looks === 40 && log.settled);
    const start = performance.now();
    await log.append(id, [step(2)]);
    expect(await Promise.all(waits)).toEqual(Array(20).fill(true));
    expect(performance.now() - start).toBeLessThan(500);
    expect(log.looks).toBe(40);
    await until(async () => (await logs.redis.pubsub('NUMSUB', eventKeys(id).channel))[1] === 0);
  });

  test('an event that is there already answers at once; none answers false after the time-out or an abort', async () => {
    const id = newWorkflow();
    const log = logs.log();
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    await log.append(id, [step(1)]);
    expect(await hub.changed(id, { afterSeq: 0, timeoutMs: 20_000 })).toBe(true);
    expect(await hub.changed(id, { afterSeq: 1, timeoutMs: 30 })).toBe(false);
    const abort = new AbortController();
    const waiting = hub.changed(id, { afterSeq: 1, timeoutMs: 20_000, signal: abort.signal });
    abort.abort();
    expect(await waiting).toBe(false);
    expect(await hub.changed(id, { afterSeq: 1, timeoutMs: 20_000, signal: abort.signal })).toBe(false);
  });

  test('an append between the look and the subscription is not missed', async () => {
    const log = logs.log();
    const hub = logs.hub(log, { safetyMs: NEVER_MS });
    const waits = range(1, 100).map(async () => {
      const id = newWorkflow();
      const [changed] = await Promise.all([
        hub.changed(id, { afterSeq: 0, timeoutMs: 5_000 }),
        log.append(id, [step(1)]),
      ]);
      return changed;
    });
    expect(await Promise.all(waits)).toEqual(Array(100).fill(true));
  });
});

/** A log that counts what is asked of it. */
class CountingLog extends EventLog {
  reads = 0;
  looks = 0;
  #running = 0;

  get settled(): boolean {
    return this.#running === 0;
  }

  override read(...args: Parameters<EventLog['read']>) {
    this.reads += 1;
    return this.#count(super.read(...args));
  }

  override latestSeq(...args: Parameters<EventLog['latestSeq']>) {
    this.looks += 1;
    return this.#count(super.latestSeq(...args));
  }

  async #count<T>(answer: Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await answer;
    } finally {
      this.#running -= 1;
    }
  }
}

/** Repeatable numbers in 0..1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
