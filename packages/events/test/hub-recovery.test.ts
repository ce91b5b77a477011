import { eventKeys } from '@plangate/events/redis';
import { isRedisUnavailable } from '@plangate/redis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Listener } from './listener.ts';
import { type Logs, newWorkflow, range, startLogs, step, until } from './log-fixture.ts';

const NEVER_MS = 3_600_000;

let logs: Logs;
beforeEach(async () => {
  logs = await startLogs();
});
afterEach(() => logs.stop());

/** Appends with a key until it is certain, as an activity does. */
async function appendSurely(log: ReturnType<Logs['log']>, id: ReturnType<typeof newWorkflow>, n: number) {
  await until(async () => {
    try {
      await log.append(id, [step(n, { key: String(n) })]);
      return true;
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error;
      return false;
    }
  });
}

test('Redis is killed and comes back: every subscriber goes on, nothing lost, nothing doubled', async () => {
  const id = newWorkflow();
  const log = logs.log();
  const hub = logs.hub(log, { safetyMs: NEVER_MS });
  const listeners = [new Listener(hub, id), new Listener(hub, id)];
  const write = async (from: number, to: number) => {
    for (const n of range(from, to)) await appendSurely(log, id, n);
  };
  await write(1, 50);
  const writing = write(51, 300);
  await until(() => listeners[0]!.latest > 60);
  await logs.server.kill();
  expect(listeners[0]!.latest).toBeLessThan(300);
  const joinedWhileAway = new Listener(hub, id, { kind: 'seq', seq: 10 });
  await logs.server.restart();
  await writing;
  for (const listener of [...listeners, joinedWhileAway]) {
    await until(() => listener.latest === 300);
    expect(listener.lost).toEqual([]);
    expect(listener.gaps).toEqual([]);
  }
  expect(listeners[0]!.seqs).toEqual(range(1, 300));
  expect(listeners[1]!.seqs).toEqual(range(1, 300));
  expect(joinedWhileAway.seqs).toEqual(range(11, 300));
  expect(new Set(listeners[0]!.deliveries.map(({ event }) => event.message)).size).toBe(300);
});

test('wake-ups that were missed while only the pub/sub connection was away lose nothing', async () => {
  const id = newWorkflow();
  const log = logs.log();
  const hub = logs.hub(log, { safetyMs: NEVER_MS });
  const listener = new Listener(hub, id);
  for (const n of range(1, 20)) {
    await log.append(id, [step(2 * n - 1)]);
    await until(() => listener.latest === 2 * n - 1);
    await logs.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await log.append(id, [step(2 * n)]);
    await until(() => listener.latest === 2 * n);
  }
  expect(listener.seqs).toEqual(range(1, 40));
});

test('a lost message is made good by the safety reading', async () => {
  const id = newWorkflow();
  const log = logs.log();
  const listener = new Listener(logs.hub(log, { safetyMs: 50 }), id);
  await log.append(id, [step(1)]);
  await until(() => listener.latest === 1);
  // Exactly what append does, without its PUBLISH.
  const { stream } = eventKeys(id);
  const [[lastId] = []] = await logs.redis.xrevrange(stream, '+', '-', 'COUNT', 1);
  await logs.redis.xadd(stream, lastId!.replace(/-1$/, '-2'), 'e', JSON.stringify(step(2)));
  await until(() => listener.latest === 2);
});

test('a wait ends with the error of Redis when that goes away, and when it is away', async () => {
  const id = newWorkflow();
  const hub = logs.hub(logs.log(), { safetyMs: NEVER_MS });
  const listener = new Listener(hub, id);
  await logs.log().append(id, [step(1)]);
  await until(() => listener.latest === 1);
  const waiting = hub.changed(id, { afterSeq: 1, timeoutMs: 20_000 }).catch((error: unknown) => error);
  await logs.server.kill();
  expect(isRedisUnavailable(await waiting)).toBe(true);
  const again = await hub.changed(newWorkflow(), { afterSeq: 0, timeoutMs: 20_000 }).catch((error) => error);
  expect(isRedisUnavailable(again)).toBe(true);
  await logs.server.restart();
});
