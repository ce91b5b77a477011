import type { WorkflowId } from '@plangate/contracts';
import { approvalSignal } from '@plangate/contracts';
import { eventKeys } from '@plangate/events/redis';
import { reviewKeys } from '@plangate/review/redis';
import { taskKey } from '@plangate/tasks/redis';
import { Connection, Client as EngineClient } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, taskPath } from './support/client.ts';
import { type Product, startProduct } from './support/product.ts';
import { expectAway, expectResearchedOnce, timed } from './support/resilience.ts';
import { readStream } from './support/sse.ts';
import { openStored, type Stored } from './support/stored.ts';
import { until } from './support/until.ts';

const STORE_AWAY = 'Review store unavailable';
const SLOW = { timeout: 120_000 };
/** Sweeps every second, so that a walk over something broken happens in every test. */
const SETTINGS = `
sweep:
  interval_seconds: 1
`;

let product: Product;
let stored: Stored;
let gatewayPid: number;
beforeAll(async () => {
  product = await startProduct({ settings: SETTINGS });
  stored = await openStored(product.stack.redis.url);
  gatewayPid = product.stack.apps.gateway.pid;
});
afterAll(async () => {
  stored?.close();
  await product?.stop();
});

async function openReview(query: string): Promise<string> {
  const id = await product.submit(query, { require_review: true });
  await product.review(id);
  // The record and the events are quiet from here on: what changes now, a request has changed.
  await until(async () => (await stored.redis.hget(taskKey(id as WorkflowId), 'start_confirmed')) === '1');
  return id;
}

/** Every write of a review that a person can ask for. */
const WRITES: Record<string, (id: string) => Promise<Answer>> = {
  feedback: (id) => product.feedback(id, 'Shorter'),
  edit: (id) => product.act(id, { action: 'edit', plan: 'Mine' }),
  extend: (id) => product.act(id, { action: 'extend', seconds: 60 }),
  approve: (id) => product.approve(id),
  reject: (id) => product.act(id, { action: 'reject' }),
  cancel: (id) => product.control(id, 'cancel'),
};
const review = (id: string) => product.ask(taskPath(id, '/review'));
const task = (id: string) => product.ask(taskPath(id));
const stream = (id: string) => product.ask(`/api/v1/stream/sse?workflow_id=${id}`);

/** A 500 in the one error shape that tells a client nothing of the inside, and the log which key it is. */
async function expectUnreadable({ status, json, text }: Answer, key: string): Promise<void> {
  expect([status, json]).toEqual([
    500,
    { error: 'Stored state cannot be read', code: 'unreadable_state', error_id: expect.any(String) },
  ]);
  expect(text).not.toContain(key);
  const told = () => gatewayLog().find(({ error_id }) => error_id === json.error_id);
  await until(() => told() !== undefined);
  expect(told()?.['msg']).toBe('stored state unreadable');
  expect(JSON.stringify(told())).toContain(key);
}

const gatewayLog = () => logLines(product.stack.apps.gateway.logs());

function logLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

async function expectAlive(): Promise<void> {
  expect((await product.ask('/health')).status).toBe(200);
  expect(product.stack.apps.gateway.pid).toBe(gatewayPid);
}

/** The proof that a fault left nothing behind: the same review goes on to its report, without a restart. */
async function expectGoesOn(id: string): Promise<void> {
  expect((await product.feedback(id, 'Shorter')).json?.version).toBe(2);
  expect((await product.approve(id, '"2"')).json?.status).toBe('approved');
  await expectResearchedOnce(product, id);
  await expectAlive();
}

describe('a Redis that is full', () => {
  test(
    'refuses every write with 503 and changes nothing, reads go on, and so does all when it has room',
    SLOW,
    async () => {
      const id = await openReview('Redis is full');
      const before = await stored.dump(id);
      await stored.redis.config('SET', 'maxmemory', '1');
      try {
        for (const [name, write] of Object.entries(WRITES)) {
          const answer = await timed(() => write(id));
          expectAway(answer, STORE_AWAY);
          expect([name, await stored.dump(id)]).toEqual([name, before]);
        }
        expectAway(await timed(() => product.post('/api/v1/tasks', { query: 'No room' })), STORE_AWAY);
        expect([(await review(id)).status, (await task(id)).status]).toEqual([200, 200]);
        const reader = readStream(product.stack.gatewayUrl, id);
        await reader.has('RESEARCH_PLAN_READY');
        reader.close();
      } finally {
        await stored.redis.config('SET', 'maxmemory', '0');
      }
      await expectGoesOn(id);
    },
  );

  test('holds the workflow up, and nothing of it is lost', SLOW, async () => {
    const id = await openReview('Redis fills up after the approval');
    await stored.redis.config('SET', 'maxmemory', '1');
    try {
      const connection = await Connection.connect({ address: product.stack.temporal.address });
      await new EngineClient({ connection }).workflow.getHandle(id).signal(approvalSignal(id), {});
      await connection.close();
      expect((await product.approve(id)).status).toBe(503);
    } finally {
      await stored.redis.config('SET', 'maxmemory', '0');
    }
    expect((await product.approve(id)).status).toBe(200);
    await expectResearchedOnce(product, id);
  });
});

describe('a Redis that became a read-only replica', () => {
  test(
    'refuses every write with 503, serves reads, and takes writes again once it is promoted',
    SLOW,
    async () => {
      const id = await openReview('Redis is a replica');
      const before = await stored.dump(id);
      // Its master is nobody: what it holds stays.
      await stored.redis.replicaof('127.0.0.1', 1);
      try {
        for (const [name, write] of Object.entries(WRITES)) {
          expectAway(await timed(() => write(id)), STORE_AWAY);
          expect([name, await stored.dump(id)]).toEqual([name, before]);
        }
        expectAway(await timed(() => product.post('/api/v1/tasks', { query: 'Read only' })), STORE_AWAY);
        expect([(await review(id)).status, (await task(id)).status]).toEqual([200, 200]);
      } finally {
        await stored.redis.replicaof('NO', 'ONE');
      }
      await expectGoesOn(id);
    },
  );

  test(
    'and serves no stale data either: everything is 503, streams too, never 404 or 500',
    SLOW,
    async () => {
      const id = await openReview('Redis is a replica without its master');
      await stored.redis.config('SET', 'replica-serve-stale-data', 'no');
      await stored.redis.replicaof('127.0.0.1', 1);
      try {
        for (const ask of [review, task, stream, ...Object.values(WRITES)]) {
          expectAway(await timed(() => ask(id)), STORE_AWAY);
        }
        await expectAlive();
      } finally {
        await stored.redis.replicaof('NO', 'ONE');
        await stored.redis.config('SET', 'replica-serve-stale-data', 'yes');
      }
      await expectGoesOn(id);
    },
  );
});

describe('something of another type under a key', () => {
  const keysOf: Record<string, (id: WorkflowId) => string> = {
    review: (id) => reviewKeys(id).review,
    'commands of the review': (id) => reviewKeys(id).commands,
    'plans of the review': (id) => reviewKeys(id).plans,
    'audit of the review': (id) => reviewKeys(id).audit,
    'event stream': (id) => eventKeys(id).stream,
    'numbers of the event stream': (id) => eventKeys(id).meta,
  };

  test.each(Object.entries(keysOf))(
    'the %s: every write is refused by name, nothing is written, and all goes on once it is mended',
    SLOW,
    async (name, keyOf) => {
      const id = await openReview(`Wrong type: ${name}`);
      const key = keyOf(id as WorkflowId);
      const { undo } = await stored.spoilType(key);
      let before = await stored.dump(id);
      for (const [action, write] of Object.entries(WRITES)) {
        await expectUnreadable(await write(id), key);
        // The model was asked before anybody looked at this key: its tokens are counted, and nothing else.
        if (action === 'feedback') before = await withUsage(id, before);
        expect([action, await stored.dump(id)]).toEqual([action, before]);
      }
      await undo();
      await expectGoesOn(id);
    },
  );

  test('the task record: it is refused by name, the list and the sweep go on without it', SLOW, async () => {
    const [id, other] = [await openReview('Wrong type: record'), await openReview('Beside it')];
    const key = taskKey(id as WorkflowId);
    const { undo } = await stored.spoilType(key);
    const before = await stored.dump(id);
    for (const ask of [task, stream, (of: string) => product.control(of, 'pause')]) {
      await expectUnreadable(await ask(id), key);
    }
    const list = await product.ask('/api/v1/tasks?limit=100');
    expect(list.json.tasks.map((item: { task_id: string }) => item.task_id)).toContain(other);
    expect(list.json.tasks.map((item: { task_id: string }) => item.task_id)).not.toContain(id);
    await until(() => isTold(key));
    expect(await stored.dump(id)).toEqual(before);
    expect(await stored.redis.zscore('tasks:open', id)).not.toBeNull();
    await undo();
    await expectGoesOn(id);
    await expectGoesOn(other);
  });

  test(
    'the lock: one that never ends is refused by name instead of holding the review up for ever',
    SLOW,
    async () => {
      const id = await openReview('Wrong type: lock');
      const { lock } = reviewKeys(id as WorkflowId);
      await stored.redis.hset(lock, 'not', 'a lock');
      const before = await stored.dump(id);
      for (const write of Object.values(WRITES)) await expectUnreadable(await write(id), lock);
      expect(await stored.dump(id)).toEqual(before);
      expect((await review(id)).status).toBe(200);
      await stored.redis.del(lock);
      await expectGoesOn(id);
    },
  );

  test('the index of open tasks: submit is refused by name, reviews go on', SLOW, async () => {
    const id = await openReview('Wrong type: index');
    const { undo } = await stored.spoilType('tasks:open');
    await expectUnreadable(await product.post('/api/v1/tasks', { query: 'No index' }), 'tasks:open');
    expect((await product.feedback(id, 'Shorter')).json?.version).toBe(2);
    await until(() => gatewayLog().some(({ msg }) => msg === 'sweep failed'));
    expect(await stored.redis.get('tasks:open')).toBe('of another type');
    await undo();
    expect((await product.approve(id)).status).toBe(200);
    await expectResearchedOnce(product, id);
  });
});

/** `dump` with the record as it is once the tokens of a feedback are counted. */
async function withUsage(id: string, dump: Record<string, string>): Promise<Record<string, string>> {
  const key = taskKey(id as WorkflowId);
  const { query } = await product.task(id);
  if (!product.model.calls(query, 'plan').some(({ prompt }) => prompt.includes('Shorter'))) return dump;
  await until(async () =>
    (await stored.redis.hkeys(key)).some((field) => field.startsWith('usage:feedback')),
  );
  return { ...dump, [key]: (await stored.dump(id))[key] ?? '' };
}

/** True once the sweep has said that it cannot read what is under `key`. */
function isTold(key: string): boolean {
  return gatewayLog().some(
    (line) =>
      String(line['msg']).startsWith('stored state unreadable: the task') &&
      JSON.stringify(line).includes(key),
  );
}

const CUT = 24;
const BINARY = Buffer.from([0, 255, 254, 128, 10, 123]);

describe('a review that cannot be read', () => {
  /** The fields that are spoilt, from what they held, and whether the hot read, which parses nothing, notices. */
  const broken: Record<
    string,
    [(held: Record<string, string>) => Record<string, string | Buffer | null>, boolean]
  > = {
    'of a newer format': [
      ({ state }) => ({
        format: '2',
        state: JSON.stringify({ ...JSON.parse(state ?? ''), format: 2, more: [] }),
      }),
      true,
    ],
    'with an unknown status': [
      ({ state }) => ({ state: JSON.stringify({ ...JSON.parse(state ?? ''), status: 'deferred' }) }),
      false,
    ],
    'with a state cut short': [({ state }) => ({ state: state?.slice(0, -CUT) ?? null }), false],
    'with a binary state': [() => ({ state: BINARY }), false],
    'without its state': [() => ({ state: null }), false],
    'without its version': [() => ({ version: null }), true],
    'with another version than its state': [() => ({ version: '7' }), false],
    'with a body cut short': [({ body }) => ({ body: body?.slice(0, -CUT) ?? null, state: '{' }), true],
    'with a binary body': [() => ({ body: BINARY, state: BINARY }), true],
    'of which only the owner is left': [
      (held) =>
        Object.fromEntries(
          Object.keys(held)
            .filter((f) => f !== 'user')
            .map((f) => [f, null]),
        ),
      true,
    ],
  };

  test.each(Object.entries(broken))(
    'P73 %s: refused by name, nothing is written over it, and all goes on once it is mended',
    SLOW,
    async (name, [spoil, noticed]) => {
      const id = await openReview(`Broken review ${name}`);
      const key = reviewKeys(id as WorkflowId).review;
      const { undo } = await stored.spoilFields(key, spoil(await stored.redis.hgetall(key)));
      const before = await stored.dump(id);
      for (const [action, write] of Object.entries(WRITES)) {
        await expectUnreadable(await write(id), key);
        expect([action, await stored.dump(id)]).toEqual([action, before]);
      }
      if (noticed) await expectUnreadable(await review(id), key);
      else expect((await review(id)).status).toBe(200);
      await undo();
      await expectGoesOn(id);
    },
  );
});

describe('a task record that cannot be read', () => {
  const broken: Record<string, (held: Record<string, string>) => Record<string, string | Buffer | null>> = {
    'of a newer version': () => ({ v: '2', more: 'yes' }),
    'with an unknown status': () => ({ status: 'TASK_STATUS_DREAMING' }),
    'with its input cut short': ({ input }) => ({ input: input?.slice(0, -CUT) ?? null }),
    'with a binary input': () => ({ input: BINARY }),
    'of which only the query is left': (held) =>
      Object.fromEntries(
        Object.keys(held)
          .filter((f) => f !== 'query')
          .map((f) => [f, null]),
      ),
  };

  test.each(Object.entries(broken))(
    'P73 %s: refused by name, not written over, kept among the open ones, and all goes on once it is mended',
    SLOW,
    async (name, spoil) => {
      const id = await openReview(`Broken record ${name}`);
      const key = taskKey(id as WorkflowId);
      const { undo } = await stored.spoilFields(key, spoil(await stored.redis.hgetall(key)));
      const before = await stored.dump(id);
      for (const ask of [
        task,
        (of: string) => product.control(of, 'cancel'),
        (of: string) => product.feedback(of, 'x'),
      ]) {
        await expectUnreadable(await ask(id), key);
      }
      expect(await stored.dump(id)).toEqual(before);
      if (!name.includes('input')) await until(() => isTold(key));
      expect(await stored.redis.zscore('tasks:open', id)).not.toBeNull();
      expect((await product.ask('/api/v1/tasks')).status).toBe(200);
      await undo();
      await expectGoesOn(id);
    },
  );
});

describe('an event that cannot be read', () => {
  test(
    'is 500 by name on the routes, breaks a stream off, and once it is gone readers go on',
    SLOW,
    async () => {
      const id = await openReview('Broken event');
      const { stream: key } = eventKeys(id as WorkflowId);
      const copy = (await stored.redis.dumpBuffer(key)) as Buffer;
      const [newest] = await stored.redis.xrevrange(key, '+', '-', 'COUNT', 1);
      const [lastId, [, event]] = newest as [string, [string, string]];
      const [ms, seq] = lastId.split('-');
      await stored.redis.xadd(key, `${ms}-${Number(seq) + 1}`, 'e', '{"type":"PROG');
      for (const path of [taskPath(id, '/events'), taskPath(id, '/timeline')]) {
        await expectUnreadable(await product.ask(path), key);
      }
      await expectUnreadable(await stream(id), key);

      // In the middle of the log only the one who reads that far meets it.
      await stored.redis.xadd(key, `${ms}-${Number(seq) + 2}`, 'e', event);
      const reader = readStream(product.stack.gatewayUrl, id);
      expect(await reader.ended).toBe('broken');
      const isLost = (line: object) =>
        JSON.stringify(line).includes(key) && 'msg' in line && line.msg === 'stream lost';
      await until(() => gatewayLog().some(isLost));
      await expectAlive();
      await stored.redis.restore(key, 0, copy, 'REPLACE');
      await expectGoesOn(id);
    },
  );
});

describe('the workflow of a task whose state cannot be read', () => {
  test(
    'waits until it is mended, however often it has to try, and says so; then it goes on',
    SLOW,
    async () => {
      const [brokenReview, brokenRecord] = [
        await openReview('Workflow meets a review'),
        await openReview('Workflow meets a record'),
      ];
      const reviewKey = reviewKeys(brokenReview as WorkflowId).review;
      const recordKey = taskKey(brokenRecord as WorkflowId);
      const orchestrator = product.stack.apps.orchestrator;
      const first = await stored.spoilFields(reviewKey, { format: '2' });
      const connection = await Connection.connect({ address: product.stack.temporal.address });
      await new EngineClient({ connection }).workflow
        .getHandle(brokenReview)
        .signal(approvalSignal(brokenReview), {});
      await connection.close();
      // An approval settles into the record: the workflow cannot go on without it.
      const second = await stored.spoilFields(recordKey, { v: '2' });
      expect((await product.approve(brokenRecord)).status).toBe(200);

      // More often than the eight tries after which a step with a fault of its own is given up.
      const tries = (key: string) =>
        logLines(orchestrator.logs()).filter(
          (line) =>
            String(line['msg'] ?? line['message']).startsWith('stored state unreadable') &&
            JSON.stringify(line).includes(key),
        ).length;
      await until(() => tries(reviewKey) >= 9 && tries(recordKey) >= 9, 60_000);
      await first.undo();
      await second.undo();
      await expectResearchedOnce(product, brokenRecord);
      await expectGoesOn(brokenReview);
    },
  );
});
