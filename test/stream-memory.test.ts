import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { NewEvent, WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { EventLog } from '@plangate/events/redis';
import { TaskStore } from '@plangate/tasks/redis';
import { expect, test } from 'vitest';
import { recordOf } from '../apps/gateway/test/rig.ts';
import { startMeasuredGateway } from './support/measured-gateway.ts';
import { until } from './support/until.ts';

const OWNER = {
  user: '00000000-0000-0000-0000-000000000002',
  tenant: '00000000-0000-0000-0000-000000000001',
};
const KIB = 1_024;

const { server, redis } = await redisForFile();

async function newTask(): Promise<WorkflowId> {
  const record = recordOf({}, OWNER);
  await new TaskStore(redis).create(record);
  return record.task_id;
}

const requestOf = (id: string) =>
  `GET /api/v1/stream/sse?workflow_id=${id} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/** Opens a stream and waits for its greeting. */
function open(port: number, id: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(requestOf(id)));
    socket.on('error', reject);
    let text = '';
    const greet = (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.includes('retry: 2000')) return;
      socket.off('data', greet).resume();
      resolve(socket);
    };
    socket.on('data', greet);
  });
}

async function openMany(port: number, ids: string[]): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < ids.length; at += 50) {
    sockets.push(...(await Promise.all(ids.slice(at, at + 50).map((id) => open(port, id)))));
  }
  return sockets;
}

async function closeAll(sockets: Socket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).destroy())),
  );
}

test('1 000 idle streams cost at most 16 KiB each, of one workflow and of a thousand', async () => {
  const gateway = await startMeasuredGateway(server.url);
  try {
    const one = await newTask();
    const ids: WorkflowId[] = [];
    while (ids.length < 1_000) ids.push(...(await Promise.all(Array.from({ length: 50 }, newTask))));
    await closeAll(await openMany(gateway.port, ids));
    for (const [name, of] of [
      ['of a thousand workflows', ids],
      ['of one workflow', ids.map(() => one)],
    ] as const) {
      const before = await settled(gateway);
      const sockets = await openMany(gateway.port, [...of]);
      const each = (held: number) => (held - before) / sockets.length / KIB;
      const during = await comesDown(gateway, each, 16);
      expect([name, during], `${during.toFixed(1)} KiB`).toEqual([
        name,
        expect.toSatisfy((kib) => kib <= 16),
      ]);
      await closeAll(sockets);
      // What was opened is let go again.
      expect(await comesDown(gateway, each, 2)).toBeLessThan(2);
    }
  } finally {
    await gateway.stop();
  }
}, 120_000);

/**
 * The memory that is held, as a figure: once it is below `bound`, or the last one after some looks. What is garbage is
 * let go sooner or later, on a busy machine later; what is held is held in every look.
 */
async function comesDown(
  gateway: Awaited<ReturnType<typeof startMeasuredGateway>>,
  figure: (held: number) => number,
  bound: number,
): Promise<number> {
  let value = figure(await settled(gateway));
  for (let looks = 1; value >= bound && looks < 10; looks += 1) {
    await delay(500);
    value = figure(await settled(gateway));
  }
  return value;
}

/** What is held once nothing is let go any more. */
async function settled(gateway: Awaited<ReturnType<typeof startMeasuredGateway>>): Promise<number> {
  let { held } = await gateway.memory();
  for (;;) {
    await delay(200);
    const next = (await gateway.memory()).held;
    if (next > held * 0.99) return Math.min(held, next);
    held = next;
  }
}

test('readers at 1 byte/s cost a bounded buffer each, are broken off by a reset, and leave nothing behind', async () => {
  const READERS = 20;
  const gateway = await startMeasuredGateway(server.url, { ping_seconds: 4 });
  const id = await newTask();
  const log = new EventLog(redis, { keep: 10_000 });
  const text = '潮'.repeat(20_000);
  for (let n = 0; n < 400; n += 1) await log.append(id, [note(`${n} ${text}`)]);
  const readers: Awaited<ReturnType<typeof crawl>>[] = [];
  try {
    // Whatever a first stream loads and compiles is not the price of a reader.
    await closeAll(await openMany(gateway.port, [await newTask()]));
    const before = await settled(gateway);
    for (let n = 0; n < READERS; n += 1) readers.push(await crawl(gateway.port, id));
    const samples: number[] = [];
    while (await isRead(id)) {
      samples.push((await gateway.memory()).held - before);
      await delay(50);
    }
    const median = samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0;
    const each = median / READERS / KIB;
    expect(samples.length).toBeGreaterThan(0);
    expect(each, `${each.toFixed(0)} KiB`).toBeLessThan(400);
    // Memory is let go in its own time; it has to come back below the bound, or this wait fails.
    await until(async () => ((await settled(gateway)) - before) / KIB < 2_048);

    // A reset is seen once what had arrived before it is read.
    for (const { hurry } of readers) hurry();
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual(readers.map(() => 'ECONNRESET'));
  } finally {
    for (const { stop } of readers) stop();
    await gateway.stop();
  }
}, 180_000);

const note = (message: string): NewEvent => ({ type: 'PROGRESS', agent_id: 'agent', message });

/** True while somebody reads the events of a workflow. */
async function isRead(id: string): Promise<boolean> {
  return (await redis.pubsub('CHANNELS', `*${id}*`)).length > 0;
}

/** A reader that takes one byte a second, until it is told to hurry. */
async function crawl(port: number, id: string) {
  let hurried = false;
  let taken = 0;
  const socket = connect({
    port,
    host: '127.0.0.1',
    onread: {
      buffer: () => Buffer.alloc(hurried ? 64 * KIB : 1),
      callback() {
        taken += 1;
        return hurried;
      },
    },
  });
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    socket.on('close', () => resolve('end'));
  });
  socket.write(requestOf(id));
  await until(() => taken > 0);
  const timer = setInterval(() => socket.resume(), 1_000);
  return {
    ended,
    hurry() {
      hurried = true;
      socket.resume();
    },
    stop() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}
