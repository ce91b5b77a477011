import { redisForFile } from '@plangate/devstack/vitest-redis';
import { beforeEach, expect, it } from 'vitest';
import { ownerKeys, TaskStore, taskKey } from '../src/redis/index.ts';
import { ALICE, aRecord, BOB } from './records.ts';

const { redis } = await redisForFile({ flush: true });
let store: TaskStore;
const start = Date.parse('2026-03-01T00:00:00.000Z');
let clock = start;

beforeEach(() => {
  clock = start;
  store = new TaskStore(redis, { now: () => new Date(clock), keepSeconds: 3_600 });
});

async function create(count: number, given: Parameters<typeof aRecord>[0] = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    clock += 1_000;
    const record = aRecord({ now: new Date(clock), ...given });
    await store.create(record);
    ids.unshift(record.task_id);
  }
  return ids;
}

const list = async (owner = ALICE, query: object = {}) => {
  const { records, totalCount } = await store.listByOwner(owner, { limit: 20, offset: 0, ...query });
  return { ids: records.map(({ task_id }) => task_id as string), totalCount };
};

it('lists newest first, in pages, with the count of all', async () => {
  const ids = await create(5);
  expect(await list()).toEqual({ ids, totalCount: 5 });
  expect(await list(ALICE, { limit: 2, offset: 2 })).toEqual({ ids: ids.slice(2, 4), totalCount: 5 });
  expect(await list(ALICE, { offset: 5 })).toEqual({ ids: [], totalCount: 5 });
});

it('filters by status and by session, and counts what matches', async () => {
  const [a] = await create(1, { sessionId: 'one' });
  const [c, b] = await create(2, { sessionId: 'two' });
  await store.end(aRecord({ id: b as never }).task_id, { kind: 'lost' });
  expect(await list(ALICE, { sessionId: 'two' })).toEqual({ ids: [c, b], totalCount: 2 });
  expect(await list(ALICE, { status: 'TASK_STATUS_FAILED' })).toEqual({ ids: [b], totalCount: 1 });
  expect(await list(ALICE, { status: 'TASK_STATUS_QUEUED' })).toEqual({ ids: [c, a], totalCount: 2 });
  expect(await list(ALICE, { status: 'TASK_STATUS_FAILED', sessionId: 'one' })).toEqual({
    ids: [],
    totalCount: 0,
  });
  expect(await list(ALICE, { sessionId: 'unknown' })).toEqual({ ids: [], totalCount: 0 });
});

it('shows no owner the tasks of another, however alike the names are', async () => {
  const lookalikes = [
    ALICE,
    BOB,
    { user: 'alice', tenant: 'other' },
    { user: 'b:c', tenant: 'a' },
    { user: 'c', tenant: 'a:b' },
    { user: 'c}', tenant: 'a{b' },
    { user: 'c', tenant: 'a%3Ab' },
  ];
  for (const owner of lookalikes) {
    const ids = await create(1, { owner, sessionId: 'shared' });
    expect(await list(owner)).toEqual({ ids, totalCount: 1 });
    expect(await list(owner, { sessionId: 'shared' })).toEqual({ ids, totalCount: 1 });
  }
});

it('drops a task whose record has expired, and only then', async () => {
  const [young, old] = await create(2);
  clock += 3_600_000 - 1_000;
  await redis.del(taskKey(old as never), taskKey(young as never));
  const alive = await create(1);
  expect(await list()).toMatchObject({ ids: alive });
  expect(await redis.zscore(ownerKeys(ALICE).tasks, old as string)).toBeNull();
  clock += 10_000;
  expect(await list()).toEqual({ ids: alive, totalCount: 1 });
});
