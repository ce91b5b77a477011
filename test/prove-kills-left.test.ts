import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { reviewKeys } from '@plangate/review/redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newLife } from '../prove/kills/life.ts';
import { settle } from '../prove/kills/settle.ts';
import { connectClient } from './support/client.ts';

const WAITS = { reconnectMs: 5_000, lockMs: 300, deliverMs: 300, endMs: 300 };
const id = 'task-left' as WorkflowId;
const { lock, review } = reviewKeys(id);
const { redis } = await redisForFile();
let gateway: Server;
/** What the stand-in of a gateway says of the task. */
let task: Record<string, unknown> = {};

beforeAll(async () => {
  gateway = createServer((req, res) => {
    const body = req.url?.includes('/review') ? { status: 'approved', version: 2 } : task;
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
});

afterAll(async () => {
  gateway.close();
});

it.each<[name: string, problem: string, fault: () => Promise<unknown>]>([
  ['a lock that outlives its lifetime', 'the lock is left behind', () => redis.set(lock, 'somebody')],
  [
    'a decision that nobody tells the workflow',
    'the decision is not delivered',
    () => redis.hset(review, 'undelivered', 'decision-1'),
  ],
  ['a task that goes on for ever', 'the task does not end', async () => (task = { completed_at: null })],
])('after a kill the check finds %s', async (_name, problem, fault) => {
  await redis.flushall();
  task = { completed_at: '2026-01-15T10:30:00.000Z' };
  await fault();
  const { port } = gateway.address() as AddressInfo;
  const product = { redis, client: connectClient(`http://127.0.0.1:${port}`) };
  const life = newLife({
    submitAt: null,
    timeoutSeconds: null,
    delays: { first: 0, feedback: 0, research: 0 },
    people: [],
  });
  life.id = id;

  const { problems } = await settle(product, life, [], WAITS);

  expect(problems[0]).toContain(problem);
});
