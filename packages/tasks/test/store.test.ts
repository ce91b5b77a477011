import { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { EventLog, eventKeys } from '@plangate/events/redis';
import { UnreadableStateError } from '@plangate/redis';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskEnd, TaskRecord } from '../src/index.ts';
import { endTask, ownerKeys, TaskStore, taskKey } from '../src/redis/index.ts';
import { ALICE, aRecord, BOB } from './records.ts';

const { redis } = await redisForFile({ flush: true });
let store: TaskStore;
let log: EventLog;
let clock: Date;

beforeEach(() => {
  clock = new Date();
  store = new TaskStore(redis, { now: () => clock });
  log = new EventLog(redis, { keep: 1_000 });
});

async function created(given: Parameters<typeof aRecord>[0] = {}): Promise<TaskRecord> {
  const record = aRecord({ now: clock, ...given });
  await store.create(record);
  return record;
}

async function openIds(): Promise<string[]> {
  return (await store.openIds()).tasks.map((task) => task.id);
}

async function typesOf(id: WorkflowId): Promise<string[]> {
  return (await log.read(id, { limit: 100 })).map((event) => event.type);
}

describe('create', () => {
  it('keeps the record as it was, and lists it as open and as its owner’s', async () => {
    const record = await created();
    expect(await store.load(record.task_id)).toEqual(record);
    expect(await store.loadOwner(record.task_id)).toEqual(ALICE);
    expect(await openIds()).toEqual([record.task_id]);
    const { records, totalCount } = await store.listByOwner(ALICE, { limit: 20, offset: 0 });
    expect(totalCount).toBe(1);
    expect(records[0]).toMatchObject({
      task_id: record.task_id,
      query: 'What is new?',
      session_id: 'session-1',
    });
  });

  it('finds nothing for an unknown id', async () => {
    const id = WorkflowId.parse('task-unknown');
    expect(await store.load(id)).toBeNull();
    expect(await store.loadOwner(id)).toBeNull();
  });

  it('creates once in a race of 20 attempts, and one attempt owns the start', async () => {
    const id = WorkflowId.parse('task-race');
    const attempts = Array.from({ length: 20 }, (_, n) => aRecord({ id, token: `token-${n}` }));
    const outcomes = await Promise.all(attempts.map((record) => store.create(record)));
    expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    const token = (await store.load(id))!.start.token;
    const removed = await Promise.all(attempts.map(({ start }) => store.removeUnstarted(id, start.token)));
    expect(removed.filter(Boolean)).toHaveLength(1);
    expect(removed[Number(token.replace('token-', ''))]).toBe(true);
  });

  it('is the same when repeated, and adopts only what has not started', async () => {
    const record = await created({ token: 'a' });
    expect((await store.create(record)).outcome).toBe('created');
    const again = await store.create(aRecord({ id: record.task_id, token: 'b' }));
    expect(again).toMatchObject({
      outcome: 'adopted',
      record: { start: { token: 'b' }, created_at: record.created_at },
    });
    await store.confirmStart(record.task_id);
    expect((await store.create(aRecord({ id: record.task_id, token: 'c' }))).outcome).toBe('exists');
    expect((await store.load(record.task_id))!.start).toEqual({ token: 'b', confirmed: true });
  });

  it('never hands one owner’s record to another', async () => {
    const record = await created();
    await expect(store.create(aRecord({ id: record.task_id, owner: BOB }))).rejects.toThrow('taken');
    expect((await store.listByOwner(BOB, { limit: 20, offset: 0 })).totalCount).toBe(0);
  });

  it('keeps the first title of a session and its newest activity', async () => {
    await created({ body: { query: 'First' } });
    clock = new Date(clock.getTime() + 5_000);
    await created({ body: { query: 'Second' } });
    expect(await redis.hgetall(ownerKeys(ALICE).session('session-1'))).toMatchObject({
      session_id: 'session-1',
      user: 'alice',
      title: 'First',
      last_activity_at: clock.toISOString(),
    });
  });
});

describe('taking a record back', () => {
  it('is for the attempt whose token it carries', async () => {
    const record = await created({ token: 'mine' });
    expect(await store.removeUnstarted(record.task_id, 'other')).toBe(false);
    expect(await store.removeUnstarted(record.task_id, 'mine')).toBe(true);
    expect(await store.load(record.task_id)).toBeNull();
    expect((await store.listByOwner(ALICE, { limit: 20, offset: 0 })).totalCount).toBe(0);
    expect(await redis.exists(ownerKeys(ALICE).session('session-1'))).toBe(0);
  });

  it('is refused once the start is confirmed or the workflow runs', async () => {
    const confirmed = await created();
    await store.confirmStart(confirmed.task_id);
    expect(await store.removeUnstarted(confirmed.task_id, 'token-1')).toBe(false);
    const running = await created();
    await store.markRunning(running.task_id);
    expect(await store.removeUnstarted(running.task_id, 'token-1')).toBe(false);
  });

  it('leaves a session that has other tasks', async () => {
    await created();
    const second = await created();
    await store.removeUnstarted(second.task_id, 'token-1');
    expect(await redis.exists(ownerKeys(ALICE).session('session-1'))).toBe(1);
  });

  it('leaves the open ones only when no newer attempt has entered', async () => {
    const record = await created();
    const { since } = (await store.openIds()).tasks[0]!;
    clock = new Date(clock.getTime() + 1_000);
    await store.create(aRecord({ id: record.task_id, token: 'next' }));
    expect(await store.closeOpen(record.task_id, since)).toBe(false);
    expect(await store.closeOpen(record.task_id, clock.getTime())).toBe(true);
    expect(await openIds()).toEqual([]);
  });
});

describe('changes while a task is open', () => {
  const by = { reason: 'lunch', by: 'alice' };
  const paused = { type: 'WORKFLOW_PAUSED', agent_id: 'orchestrator', message: '', key: 'paused:1' } as const;

  it('pauses and resumes, each once, with its events', async () => {
    const { task_id } = await created();
    expect(await store.markRunning(task_id)).toBe('done');
    expect(await store.markRunning(task_id)).toBe('unchanged');
    expect(await store.setPaused(task_id, by, [paused])).toBe('done');
    const pausedAt = clock.toISOString();
    clock = new Date(clock.getTime() + 1_000);
    expect(await store.setPaused(task_id, by, [paused])).toBe('unchanged');
    expect(await store.load(task_id)).toMatchObject({
      status: 'TASK_STATUS_PAUSED',
      start: { confirmed: true },
      control: { is_paused: true, paused_at: pausedAt, pause_reason: 'lunch', paused_by: 'alice' },
    });
    expect(await typesOf(task_id)).toEqual(['WORKFLOW_PAUSED']);
    expect(await store.markRunning(task_id)).toBe('unchanged');
    expect(await store.setResumed(task_id)).toBe('done');
    expect(await store.setResumed(task_id)).toBe('unchanged');
    expect(await store.load(task_id)).toMatchObject({
      status: 'TASK_STATUS_RUNNING',
      updated_at: clock.toISOString(),
      control: { is_paused: false, paused_at: '', pause_reason: '', paused_by: '' },
    });
  });

  it('keeps the first reason of a cancel', async () => {
    const { task_id } = await created();
    expect(await store.setCancelling(task_id, { reason: 'first', by: 'alice' })).toBe('done');
    expect(await store.setCancelling(task_id, { reason: 'second', by: 'bob' })).toBe('unchanged');
    expect((await store.load(task_id))!.control).toMatchObject({
      is_cancelled: true,
      cancel_reason: 'first',
      cancelled_by: 'alice',
    });
  });

  it('adds the approved plan to the context and leaves the input as it was', async () => {
    const record = await created();
    const conversation = [{ role: 'user', message: 'm', timestamp: clock.toISOString() }];
    await store.setContext(record.task_id, { confirmed_plan: 'plan', review_conversation: conversation });
    const loaded = await store.load(record.task_id);
    expect(loaded!.context).toEqual({
      require_review: true,
      note: 'n',
      confirmed_plan: 'plan',
      review_conversation: conversation,
    });
    expect(loaded!.input).toEqual(record.input);
  });

  it('counts a model call once however often it is retried, and the sum of all', async () => {
    const { task_id } = await created();
    const usage = { model: 'm', provider: 'p', input_tokens: 10, output_tokens: 5, estimated_cost: 0.1 };
    await Promise.all(Array.from({ length: 10 }, () => store.addUsage(task_id, usage, 'plan:1')));
    expect(await store.addUsage(task_id, { ...usage, estimated_cost: 0.2 }, 'plan:2')).toBe('done');
    expect(await store.load(task_id)).toMatchObject({
      model_used: 'm',
      provider: 'p',
      usage: { input_tokens: 20, output_tokens: 10, total_tokens: 30, estimated_cost: 0.3 },
    });
  });

  it('changes nothing after the end, except what a late model call used', async () => {
    const { task_id } = await created();
    await store.end(task_id, { kind: 'cancelled' });
    const before = await store.load(task_id);
    expect(await store.markRunning(task_id)).toBe('ended');
    expect(await store.setPaused(task_id, by, [paused])).toBe('ended');
    expect(await store.setCancelling(task_id, by)).toBe('ended');
    expect(await store.setContext(task_id, { confirmed_plan: 'p', review_conversation: [] })).toBe('ended');
    expect(await store.load(task_id)).toEqual(before);
    const usage = { model: 'm', provider: 'p', input_tokens: 1, output_tokens: 1 };
    expect(await store.addUsage(task_id, usage, 'late')).toBe('done');
    expect((await store.load(task_id))!.usage.total_tokens).toBe(2);
  });

  it('makes no record where there is none', async () => {
    const id = WorkflowId.parse('task-none');
    const usage = { model: 'm', provider: 'p', input_tokens: 1, output_tokens: 1 };
    expect(await store.markRunning(id)).toBe('absent');
    expect(await store.addUsage(id, usage, 'k')).toBe('absent');
    expect(await store.end(id, { kind: 'lost' })).toEqual({ outcome: 'absent' });
    expect(await redis.keys('*')).toEqual([]);
  });
});

describe('the end of a task', () => {
  const ends: TaskEnd[] = [
    { kind: 'completed', result: '# Report' },
    { kind: 'review_timed_out' },
    { kind: 'rejected', reason: 'r' },
    { kind: 'cancelled', reason: 'c', by: 'alice' },
    { kind: 'plan_failed' },
    { kind: 'research_failed', reason: 'f' },
    { kind: 'not_started' },
    { kind: 'lost' },
  ];

  it('is the first of 20 different ones at the same time, with exactly one terminal event', async () => {
    const { task_id } = await created();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.end(task_id, ends[n % ends.length] as TaskEnd)),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'ended')).toHaveLength(1);
    const standing = outcomes.map((outcome) => ('end' in outcome ? outcome.end : null));
    expect(new Set(standing.map((end) => JSON.stringify(end))).size).toBe(1);
    const record = (await store.load(task_id))!;
    expect(record).toMatchObject({ status: standing[0]!.status, error: standing[0]!.error });
    const types = await typesOf(task_id);
    expect(types.filter((type) => /^WORKFLOW_(COMPLETED|FAILED|CANCELLED)$/.test(type))).toHaveLength(1);
    expect(types.at(-1)).toBe('STREAM_END');
    expect(types.filter((type) => type === 'STREAM_END')).toHaveLength(1);
  });

  it('keeps a report of 512 KiB and its metadata', async () => {
    const { task_id } = await created();
    const result = 'é'.repeat(256 * 1024);
    await store.end(task_id, { kind: 'completed', result, metadata: { citations: [] }, provider: 'offline' });
    expect(await store.load(task_id)).toMatchObject({
      status: 'TASK_STATUS_COMPLETED',
      result,
      error: null,
      metadata: { citations: [] },
      provider: 'offline',
      completed_at: clock.toISOString(),
    });
  });

  it('says who cancelled, also where the workflow did not note it before', async () => {
    const { task_id } = await created();
    await store.setPaused(task_id, { reason: '', by: 'alice' });
    await store.end(task_id, { kind: 'cancelled', reason: 'c', by: 'alice' });
    expect((await store.load(task_id))!.control).toMatchObject({
      is_paused: false,
      is_cancelled: true,
      cancel_reason: 'c',
      cancelled_by: 'alice',
    });
  });

  it('lets the record expire after 30 days and an open one never', async () => {
    const { task_id } = await created();
    expect(await redis.ttl(taskKey(task_id))).toBe(-1);
    await store.end(task_id, { kind: 'lost' });
    expect(await redis.ttl(taskKey(task_id))).toBeGreaterThan(30 * 86_400 - 60);
  });

  it('lets the event log expire, runs what follows, and leaves the open ones', async () => {
    const { task_id } = await created();
    let runs = 0;
    const parts = {
      store,
      events: log,
      keepEventsSeconds: 86_400,
      afterEnd: async () => {
        runs += 1;
        return { undelivered: false };
      },
    };
    await endTask(task_id, { kind: 'plan_failed' }, parts);
    await endTask(task_id, { kind: 'lost' }, parts);
    expect(runs).toBe(2);
    expect(await redis.ttl(eventKeys(task_id).stream)).toBeGreaterThan(86_000);
    expect(await openIds()).toEqual([]);
    expect(await typesOf(task_id)).toEqual(['ERROR_OCCURRED', 'WORKFLOW_FAILED', 'STREAM_END']);
  });

  it('stays among the open ones while a decision is undelivered', async () => {
    const { task_id } = await created();
    await endTask(
      task_id,
      { kind: 'cancelled' },
      {
        store,
        events: log,
        keepEventsSeconds: 86_400,
        afterEnd: async () => ({ undelivered: true }),
      },
    );
    expect(await openIds()).toEqual([task_id]);
  });
});

describe('a record of another version', () => {
  it('is refused by every method with one error, and nothing is overwritten', async () => {
    const record = await created();
    const { task_id } = record;
    await redis.hset(taskKey(task_id), 'v', '2');
    const before = await redis.hgetall(taskKey(task_id));
    const by = { reason: '', by: '' };
    const usage = { model: 'm', provider: 'p', input_tokens: 1, output_tokens: 1 };
    const calls = [
      () => store.load(task_id),
      () => store.loadOwner(task_id),
      () => store.create(record),
      () => store.confirmStart(task_id),
      () => store.removeUnstarted(task_id, 'token-1'),
      () => store.markRunning(task_id),
      () => store.setPaused(task_id, by),
      () => store.setCancelling(task_id, by),
      () => store.addUsage(task_id, usage, 'k'),
      () => store.end(task_id, { kind: 'lost' }),
    ];
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(UnreadableStateError);
    expect(await redis.hgetall(taskKey(task_id))).toEqual(before);
    expect(await typesOf(task_id)).toEqual([]);
  });

  it('takes no other task out of the list', async () => {
    const unreadable = await created();
    const other = await created();
    await redis.hset(taskKey(unreadable.task_id), 'v', '2');
    const { records } = await store.listByOwner(ALICE, { limit: 20, offset: 0 });
    expect(records.map(({ task_id }) => task_id)).toEqual([other.task_id]);
  });

  it('is refused where a field breaks the schema', async () => {
    const { task_id } = await created();
    await redis.hset(taskKey(task_id), 'status', 'DONE');
    await expect(store.load(task_id)).rejects.toThrow(UnreadableStateError);
    await redis.hset(taskKey(task_id), 'input', '{');
    await expect(store.load(task_id)).rejects.toThrow(UnreadableStateError);
  });
});

describe('the open tasks', () => {
  it('are walked whole, and their states read in one round trip', async () => {
    for (let n = 0; n < 300; n += 1) await redis.zadd('tasks:open', n, `task-x${n}`);
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const step = await store.openIds(cursor, 50);
      for (const { id } of step.tasks) seen.add(id);
      cursor = step.cursor;
    } while (cursor !== '0');
    expect(seen.size).toBe(300);
  });

  it('show whether they started, ended, are gone or unreadable', async () => {
    const [queued, ended, newer] = [await created(), await created(), await created()];
    await store.markRunning(ended.task_id);
    await store.end(ended.task_id, { kind: 'lost' });
    await redis.hset(taskKey(newer.task_id), 'v', '2');
    const ids = [queued.task_id, ended.task_id, newer.task_id, WorkflowId.parse('gone')];
    const state = { state: 'read', kind: 'research' };
    expect(await store.openStates(ids)).toEqual([
      { ...state, status: 'TASK_STATUS_QUEUED', ended: false, confirmed: false },
      { ...state, status: 'TASK_STATUS_FAILED', ended: true, confirmed: true },
      { state: 'unreadable' },
      { state: 'absent' },
    ]);
  });
});
