import { WorkflowEvent } from '@plangate/contracts';
import { gapFor, parseCursor } from '@plangate/events';
import { APPEND_LUA, EventLog, encodeAppend, eventKeys } from '@plangate/events/redis';
import { defineScript } from '@plangate/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { END, type Logs, newWorkflow, range, startLogs, step } from './log-fixture.ts';

let logs: Logs;
beforeAll(async () => {
  logs = await startLogs();
});
afterAll(() => logs.stop());

const seqs = (events: WorkflowEvent[]) => events.map((event) => event.seq);

describe('append', () => {
  test('seq has no gaps and ids only grow under 50 parallel appends from two connections', async () => {
    const id = newWorkflow();
    const writers = [logs.log(), new EventLog(await logs.connect(), { keep: 1_000 })];
    await Promise.all(range(0, 49).map((n) => writers[n % 2]!.append(id, [step(n), step(n)])));
    const events = await logs.log().read(id, { limit: 200 });
    expect(seqs(events)).toEqual(range(1, 100));
    const times = events.map((event) => Date.parse(event.timestamp));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const event of events) {
      expect(event.stream_id).toBe(`${Date.parse(event.timestamp)}-${event.seq}`);
      expect(WorkflowEvent.parse(event)).toEqual(event);
    }
  });

  test('an event with a key is appended once, however many attempts run at the same time', async () => {
    const id = newWorkflow();
    const log = logs.log();
    const appended = await Promise.all(range(1, 20).map(() => log.append(id, [step(1, { key: 'a' })])));
    expect(appended.toSorted()).toEqual([...Array(19).fill(0), 1]);
    expect(seqs(await log.read(id, { limit: 10 }))).toEqual([1]);
  });

  test('of a batch that was partly appended before, only the rest is', async () => {
    const id = newWorkflow();
    const log = logs.log();
    await log.append(id, [step(1, { key: '1' }), step(3, { key: '3' })]);
    const all = range(1, 4).map((n) => step(n, { key: String(n) }));
    expect(await log.append(id, [...all, step(4, { key: '4' })])).toBe(2);
    const messages = (await log.read(id, { limit: 10 })).map((event) => event.message);
    expect(messages).toEqual(['step 1', 'step 3', 'step 2', 'step 4']);
  });

  test('nothing follows STREAM_END, and it comes once', async () => {
    const id = newWorkflow();
    const log = logs.log();
    expect(await log.append(id, [step(1), END, step(2)])).toBe(2);
    expect(await log.append(id, [{ ...END, key: 'other' }])).toBe(0);
    expect(await log.append(id, [step(3)])).toBe(0);
    expect((await log.bounds(id))?.end?.seq).toBe(2);
  });

  test('the payload comes back as it was given: empty lists and objects, numbers, nesting', async () => {
    const id = newWorkflow();
    const payload = {
      list: [],
      object: {},
      big: 9_007_199_254_740_991,
      small: 1e-9,
      deep: [[{ a: [null] }]],
    };
    await logs.log().append(id, [step(1, { payload })]);
    const [event] = await logs.log().read(id, { limit: 1 });
    expect(event?.payload).toEqual(payload);
  });

  test('the time of an event is never before the last one, even when the clock of Redis went back', async () => {
    const id = newWorkflow();
    const ahead = Date.now() + 3_600_000;
    await logs.redis.hset(eventKeys(id).meta, 'ms', ahead);
    await logs.log().append(id, [step(1), step(2)]);
    const events = await logs.log().read(id, { limit: 10 });
    expect(events.map((event) => event.stream_id)).toEqual([`${ahead}-1`, `${ahead}-2`]);
  });

  test('the fragment appends inside the script of somebody else, in one step with its write', async () => {
    const id = newWorkflow();
    const { stream, meta, channel } = eventKeys(id);
    const commit = defineScript(
      'events_test_commit',
      `${APPEND_LUA}
       redis.call('SET', KEYS[3], 'v2')
       return append_events(KEYS[1], KEYS[2], ARGV[1], 0, ARGV[2])`,
    );
    const events = encodeAppend([{ ...step(1), key: 'c' }, step(2)]);
    expect(await commit(logs.redis, [stream, meta, `${stream}:state`], [channel, events])).toBe(2);
    expect(await logs.redis.get(`${stream}:state`)).toBe('v2');
    expect(seqs(await logs.log().read(id, { limit: 10 }))).toEqual([1, 2]);
  });
});

describe('retention', () => {
  test('the steps of the work trim the log to what is kept', async () => {
    const id = newWorkflow();
    const log = logs.log(5);
    for (const n of range(1, 12)) await log.append(id, [step(n)]);
    expect(seqs(await log.read(id, { limit: 100 }))).toEqual(range(8, 12));
  });

  test('events that can be written while a review is open trim nothing, however many there are', async () => {
    const id = newWorkflow();
    const log = logs.log(2);
    for (const n of range(1, 10)) {
      await log.append(id, [step(n, { type: n % 2 ? 'RESEARCH_PLAN_EDITED' : 'REVIEW_REMINDER' })]);
      await log.append(id, [step(n, { type: 'WORKFLOW_PAUSED' })]);
    }
    expect(seqs(await log.read(id, { limit: 100 }))).toEqual(range(1, 20));
  });

  test('an expired log is gone with its numbers and keys', async () => {
    const id = newWorkflow();
    const log = logs.log();
    await log.append(id, [step(1, { key: 'a' })]);
    await log.expire(id, 100);
    const { stream, meta } = eventKeys(id);
    expect(await logs.redis.ttl(stream)).toBeGreaterThan(90);
    expect(await logs.redis.ttl(meta)).toBeGreaterThan(90);
    await log.append(id, [step(2)]);
    expect(await logs.redis.ttl(stream)).toBeGreaterThan(90);
    await log.expire(id, 0);
    expect(await logs.redis.exists(stream, meta)).toBe(0);
    expect(await log.bounds(id)).toBeNull();
  });
});

describe('read', () => {
  test('resume by id and by seq is strictly after, from every position, many events in one ms included', async () => {
    const id = newWorkflow();
    const log = logs.log();
    for (const n of range(1, 12))
      await log.append(
        id,
        range(1, n % 4 === 0 ? 7 : 1).map((m) => step(m)),
      );
    const all = await log.read(id, { limit: 1_000 });
    for (const [index, event] of all.entries()) {
      const rest = all.slice(index + 1);
      for (const text of [event.stream_id, String(event.seq)]) {
        expect(await log.read(id, { after: parseCursor(text)!, limit: 1_000 })).toEqual(rest);
        expect(await log.read(id, { after: parseCursor(text)!, limit: 2 })).toEqual(rest.slice(0, 2));
      }
    }
    expect(await log.read(id, { after: { kind: 'seq', seq: 0 }, limit: 1_000 })).toEqual(all);
    expect(await log.read(id, { after: { kind: 'seq', seq: 9_999 }, limit: 1_000 })).toEqual([]);
  });

  test('a page counts from the oldest event that is kept', async () => {
    const id = newWorkflow();
    const log = logs.log(6);
    await log.append(
      id,
      range(1, 10).map((n) => step(n)),
    );
    expect(seqs(await log.readPage(id, { offset: 0, limit: 2 }))).toEqual([5, 6]);
    expect(seqs(await log.readPage(id, { offset: 4, limit: 50 }))).toEqual([9, 10]);
    expect(await log.readPage(id, { offset: 6, limit: 50 })).toEqual([]);
    expect(await log.readPage(newWorkflow(), { offset: 3, limit: 50 })).toEqual([]);
  });

  test('P56 a cursor older than what is kept has a gap, then the rest', async () => {
    const id = newWorkflow();
    const log = logs.log(2);
    await log.append(id, [step(1)]);
    const [first] = await log.read(id, { limit: 1 });
    await log.append(id, [step(2), step(3), step(4)]);
    const bounds = await log.bounds(id);
    const [earliest, latest] = [bounds!.earliestId, bounds!.latestId];

    expect(gapFor(parseCursor('1')!, bounds)).toEqual({ requested: 1, earliest: 3, latest: 4 });
    const byId = parseCursor(first!.stream_id)!;
    expect(gapFor(byId, bounds)).toEqual({ requested: first!.stream_id, earliest, latest });
    expect(seqs(await log.read(id, { after: byId, limit: 10 }))).toEqual([3, 4]);
    expect(seqs(await log.read(id, { after: parseCursor('1')!, limit: 10 }))).toEqual([3, 4]);
    expect(gapFor({ kind: 'start' }, bounds)).toEqual({ requested: 0, earliest: 3, latest: 4 });
    for (const whole of ['2', '3', '4', '5', earliest, latest]) {
      expect(gapFor(parseCursor(whole)!, bounds)).toBeNull();
    }
  });
});
