import type { Owner } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { isUnreadable } from '@plangate/redis';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  eventsOfTurn,
  type TaskRecord,
  toHistoryItem,
  toSessionBody,
  toSessionSummary,
  toTurn,
  workCounter,
} from '../src/index.ts';
import { ownerKeys, SessionStore, TaskStore, taskKey } from '../src/redis/index.ts';
import { ALICE, aRecord, BOB } from './records.ts';

const { redis } = await redisForFile({ flush: true });
let tasks: TaskStore;
let sessions: SessionStore;
const start = Date.parse('2026-03-01T00:00:00.000Z');
const HOUR = 3_600_000;
let clock = start;

beforeEach(() => {
  clock = start;
  const options = { now: () => new Date(clock), keepSeconds: 3_600 };
  tasks = new TaskStore(redis, options);
  sessions = new SessionStore(redis, options);
});

async function create(sessionId: string, given: Parameters<typeof aRecord>[0] = {}): Promise<TaskRecord> {
  clock += 1_000;
  const record = aRecord({ now: new Date(clock), sessionId, ...given });
  await tasks.create(record);
  return record;
}
/** What Redis does to the records of tasks that ended long ago. */
const expire = (...records: TaskRecord[]) => redis.del(...records.map(({ task_id }) => taskKey(task_id)));
const list = async (owner = ALICE, page = {}) => {
  const { sessions: found, totalCount } = await sessions.list(owner, { limit: 20, offset: 0, ...page });
  return { ids: found.map(({ session }) => session.session_id), totalCount };
};

describe('the list', () => {
  it('has the session used last first, in pages, with the count of all', async () => {
    for (const id of ['a', 'b', 'c', 'a']) await create(id);
    expect(await list()).toEqual({ ids: ['a', 'c', 'b'], totalCount: 3 });
    expect(await list(ALICE, { limit: 1, offset: 1 })).toEqual({ ids: ['c'], totalCount: 3 });
    expect(await list(ALICE, { offset: 3 })).toEqual({ ids: [], totalCount: 3 });
  });

  it('keeps its order however many sessions a page has', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `s${n}`);
    for (const id of ids) await create(id);
    expect(await list()).toEqual({ ids: ids.toReversed(), totalCount: 12 });
  });

  it('is the owner’s own: two owners use one id and see nothing of each other', async () => {
    await create('shared', { body: { query: 'Of Alice' } });
    await create('shared', { body: { query: 'Of Bob' }, owner: BOB });
    const [mine] = (await sessions.list(ALICE, { limit: 5, offset: 0 })).sessions;
    expect([mine?.session.title, mine?.totals.tasks]).toEqual(['Of Alice', 1]);
    await sessions.remove(BOB, 'shared');
    expect(await sessions.load(BOB, 'shared')).toBeNull();
    expect(await list()).toEqual({ ids: ['shared'], totalCount: 1 });
  });
});

describe('records that have expired', () => {
  it('leave a session when it is read, and a session without any leaves the list', async () => {
    const [old, young] = [await create('a'), await create('a')];
    const gone = await create('b');
    clock += 2 * HOUR;
    await expire(old, gone);
    expect(await list()).toEqual({ ids: ['a'], totalCount: 1 });
    expect(await sessions.load(ALICE, 'b')).toBeNull();
    expect(await redis.exists(ownerKeys(ALICE).session('b'))).toBe(0);
    expect(await sessions.taskIds(ALICE, 'a')).toEqual([young.task_id]);
  });

  it('leave the lists of an owner who only ever submits, a few with each new task', async () => {
    const old: TaskRecord[] = [];
    for (let n = 0; n < 50; n += 1) old.push(await create(`old-${n}`));
    const keys = ownerKeys(ALICE);
    clock += 2 * HOUR;
    await expire(...old);
    await create('new');
    const [tasksLeft, sessionsLeft] = [await redis.zcard(keys.tasks), await redis.zcard(keys.sessions)];
    expect([tasksLeft, sessionsLeft]).toEqual([31, 31]);
    await create('new');
    await create('new');
    expect([await redis.zcard(keys.tasks), await redis.zcard(keys.sessions)]).toEqual([3, 1]);
    expect((await redis.keys('session*')).toSorted()).toEqual(
      [keys.sessions, keys.session('new'), keys.sessionTasks('new'), keys.sessionUnsummed('new')].toSorted(),
    );
  });

  it('leave the lists of owners who never come back, by a walk over all of them', async () => {
    const odd: Owner = { tenant: 'a}b:{c', user: 'd%:e 潮' };
    const gone = [
      await create('a'),
      await create('b'),
      await create('c', { owner: BOB }),
      await create('o', { owner: odd }),
    ];
    clock += 2 * HOUR;
    const kept = await create('d', { owner: BOB });
    await expire(...gone);
    await redis.sadd('tasks:of:{nobody}', 'no list of ours');
    await redis.sadd('tasks:of:{broken:list}', 'not either');
    let cursor = '0';
    do cursor = await tasks.pruneOwners(cursor);
    while (cursor !== '0');
    const of = ownerKeys(BOB);
    expect((await redis.keys('*s:of:*')).toSorted()).toEqual(
      [of.sessions, of.tasks, 'tasks:of:{nobody}', 'tasks:of:{broken:list}'].toSorted(),
    );
    expect((await redis.keys('session*')).toSorted()).toEqual(
      [of.sessions, of.session('d'), of.sessionTasks('d'), of.sessionUnsummed('d')].toSorted(),
    );
    expect(await redis.zrange(of.tasks, '0', '-1')).toEqual([kept.task_id]);
  });

  it('leave also behind many that are old and still there', async () => {
    const kept: TaskRecord[] = [];
    for (let n = 0; n < 30; n += 1) kept.push(await create('long'));
    const gone = await create('long');
    clock += 2 * HOUR;
    await expire(gone);
    expect(await sessions.taskIds(ALICE, 'long')).toEqual(kept.map(({ task_id }) => task_id));
  });

  it('that are missing but young stay: their record may be in the making', async () => {
    await expire(await create('a'));
    expect(await list()).toEqual({ ids: ['a'], totalCount: 1 });
  });
});

describe('sums of a session', () => {
  const of = ownerKeys(ALICE);
  const usage = { input_tokens: 3, output_tokens: 4, estimated_cost: 0.25, model: 'm', provider: 'p' };
  const minutes = (count: number) => count * 60_000;

  /** Two that succeeded, one that failed, one that was cancelled and one that runs, a while later. */
  async function aSession(sessionId: string): Promise<TaskRecord[]> {
    const made: TaskRecord[] = [];
    for (const kind of ['completed', 'completed', 'lost', 'cancelled', null] as const) {
      const task = await create(sessionId);
      made.push(task);
      await tasks.addUsage(task.task_id, usage, 'plan');
      if (kind === 'completed') await tasks.end(task.task_id, { kind, result: 'r' });
      else if (kind !== null) await tasks.end(task.task_id, { kind });
    }
    clock += minutes(11);
    return made;
  }
  const totals = async (sessionId = 'a') => {
    const [listed] = (await sessions.list(ALICE, { limit: 1, offset: 0 })).sessions;
    const session = await sessions.load(ALICE, sessionId);
    expect(session).toEqual(listed);
    return session?.totals;
  };
  const WHOLE = { tasks: 5, successful: 2, failed: 1, tokens: 35, cost: 1.25, isRunning: true };

  it('come to what its tasks come to, before and after; one that stands still is not read again', async () => {
    const made = await aSession('a');
    // The fourth was the last to end, in the moment of its creation.
    const ends = {
      first: { task_id: made[0]?.task_id },
      latest: { task_id: made[4]?.task_id },
      lastEnd: made[3]?.created_at,
    };
    expect(await totals()).toMatchObject({ ...WHOLE, ...ends });
    expect(await redis.zrange(of.sessionUnsummed('a'), '0', '-1')).toEqual([made[4]?.task_id]);
    for (const { task_id } of made) await redis.hset(taskKey(task_id), 'input_tokens', '1000');
    expect(await totals()).toMatchObject({ ...WHOLE, ...ends, tokens: 28 + 1_004 });
  });

  it('take a task up once, however many read the session at the same time', async () => {
    await aSession('a');
    const many = await Promise.all(Array.from({ length: 20 }, () => sessions.load(ALICE, 'a')));
    for (const session of many) expect(session?.totals).toMatchObject(WHOLE);
    expect(await totals()).toMatchObject(WHOLE);
    expect(await redis.hget(of.sessionSums('a'), 'tasks')).toBe('4');
  });

  it('leave out who ended a moment ago: what is used after the end counts', async () => {
    const [task] = [await create('a')];
    await tasks.end(task.task_id, { kind: 'cancelled' });
    expect(await totals()).toMatchObject({ tasks: 1, tokens: 0 });
    clock += minutes(9);
    expect(await totals()).toMatchObject({ tasks: 1, tokens: 0 });
    await tasks.addUsage(task.task_id, usage, 'late');
    clock += minutes(2);
    for (let n = 0; n < 2; n += 1) expect(await totals()).toMatchObject({ tasks: 1, tokens: 7, cost: 0.25 });
  });

  it('are made where another version kept none, and made anew where it added or took away', async () => {
    const made = await aSession('a');
    await redis.del(of.sessionUnsummed('a'), of.sessionSums('a'));
    for (let n = 0; n < 2; n += 1) expect(await totals()).toMatchObject(WHOLE);
    const added = await create('a');
    await redis.zrem(of.sessionUnsummed('a'), added.task_id);
    expect(await totals()).toMatchObject({ ...WHOLE, tasks: 6, latest: { task_id: added.task_id } });
    await redis.zrem(of.sessionTasks('a'), made[0]?.task_id ?? '');
    expect(await totals()).toMatchObject({ ...WHOLE, tasks: 5, successful: 1, tokens: 28, cost: 1 });
    // One more and the oldest one less: the count alone would not tell.
    await redis.zadd(of.sessionTasks('a'), clock, made[0]?.task_id ?? '');
    await redis.zrem(of.sessionTasks('a'), made[1]?.task_id ?? '');
    expect(await totals()).toMatchObject({ ...WHOLE, tasks: 5, successful: 1, tokens: 28, cost: 1 });
  });

  it('lose a task whose record has expired', async () => {
    const [first] = await aSession('a');
    expect(await totals()).toMatchObject(WHOLE);
    clock += 2 * HOUR;
    if (first) await expire(first);
    expect(await totals()).toMatchObject({ ...WHOLE, tasks: 4, successful: 1, tokens: 28, cost: 1 });
  });

  it('go with their session', async () => {
    await aSession('a');
    await totals();
    await sessions.remove(ALICE, 'a');
    expect(await redis.keys('session*')).toEqual([]);
    const made = await aSession('b');
    await sessions.load(ALICE, 'b');
    clock += 2 * HOUR;
    await expire(...made);
    expect(await sessions.load(ALICE, 'b')).toBeNull();
    expect(await redis.keys('session*')).toEqual([]);
  });
});

describe('a session that cannot be read', () => {
  it.each([
    ['breaks its schema', (key: string) => redis.hset(key, 'created_at', 'some day')],
    ['has another type', (key: string) => redis.multi().del(key).set(key, 'text').exec()],
  ])('because it %s is unreadable, never not found, and takes no other from the list', async (_, spoil) => {
    await create('a');
    await create('b');
    await spoil(ownerKeys(ALICE).session('a'));
    await expect(sessions.load(ALICE, 'a')).rejects.toSatisfy(isUnreadable);
    expect((await list()).ids).toEqual(['b']);
  });
});

describe('rename and remove', () => {
  it('a title is stored with its time, and only where there is a session', async () => {
    await create('a');
    clock += 5_000;
    expect(await sessions.rename(ALICE, 'a', 'Better')).toBe(true);
    expect((await sessions.load(ALICE, 'a'))?.session).toMatchObject({
      title: 'Better',
      updated_at: new Date(clock).toISOString(),
    });
    expect(await sessions.rename(BOB, 'a', 'Mine')).toBe(false);
    expect(await redis.exists(ownerKeys(BOB).session('a'))).toBe(0);
  });

  it('a removed session leaves its tasks readable, and its id begins anew', async () => {
    const task = await create('a');
    await sessions.remove(ALICE, 'a');
    await sessions.remove(ALICE, 'a');
    expect(await list()).toEqual({ ids: [], totalCount: 0 });
    expect(await tasks.load(task.task_id)).toMatchObject({ session_id: 'a' });
    expect((await tasks.listByOwner(ALICE, { limit: 5, offset: 0 })).totalCount).toBe(1);
    const again = await create('a');
    expect(await sessions.taskIds(ALICE, 'a')).toEqual([again.task_id]);
  });
});

describe('what a session shows', () => {
  it('counts tasks, tokens, cost and ends, and names the latest task', async () => {
    const [first, second] = [
      await create('a', { body: { query: 'First' } }),
      await create('a', { body: { query: 'Second' } }),
    ];
    await tasks.addUsage(
      first.task_id,
      { input_tokens: 3, output_tokens: 4, estimated_cost: 0.5, model: 'm', provider: 'p' },
      'plan',
    );
    await tasks.end(first.task_id, { kind: 'completed', result: 'r' });
    clock += 60_000;
    await tasks.end(second.task_id, { kind: 'lost' });
    const session = await sessions.load(ALICE, 'a');
    if (!session) throw new Error('no session');
    const ended = new Date(clock).toISOString();
    expect(toSessionSummary(session, new Date(clock))).toEqual({
      session_id: 'a',
      user_id: 'alice',
      title: 'First',
      task_count: 2,
      tokens_used: 7,
      created_at: first.created_at,
      updated_at: ended,
      last_activity_at: ended,
      is_active: true,
      is_research_session: true,
      latest_task_query: 'Second',
      latest_task_status: 'FAILED',
      successful_tasks: 1,
      failed_tasks: 1,
      total_cost_usd: 0.5,
    });
    expect(toSessionSummary(session, new Date(clock + 24 * HOUR))).toMatchObject({ is_active: false });
    expect(toSessionBody(session, first)).toMatchObject({
      tokens_used: 7,
      cost_usd: 0.5,
      task_count: 2,
      research_strategy: 'standard',
    });
  });

  it('a session with a task that is not over is active however old it is', async () => {
    await create('a');
    const session = await sessions.load(ALICE, 'a');
    if (!session) throw new Error('no session');
    expect(toSessionSummary(session, new Date(clock + 240 * HOUR))).toMatchObject({ is_active: true });
  });

  it('history and turns have the result, the steps and no piece of a streamed answer', () => {
    const record: TaskRecord = { ...aRecord({ now: new Date(start) }), result: '', error: null };
    const event = (type: string, agent_id: string, message = '', payload = {}) =>
      ({
        type,
        agent_id,
        message,
        payload,
        workflow_id: 'w',
        seq: 1,
        stream_id: '1-1',
        timestamp: '',
      }) as never;
    const events = [
      event('AGENT_STARTED', 'b'),
      event('AGENT_STARTED', 'b'),
      event('TOOL_INVOKED', 'b'),
      event('TOOL_INVOKED', 'b'),
      event('LLM_PARTIAL', 'writer', 'The'),
      event('LLM_OUTPUT', 'writer', 'The report', { citations: 1 }),
    ];
    const work = workCounter();
    for (const page of [events.slice(0, 3), events.slice(3)]) work.add(page);
    expect(toHistoryItem(record, work.counts())).toMatchObject({
      status: 'QUEUED',
      result: '',
      error_message: '',
      completed_at: '',
      agents_used: 1,
      tools_invoked: 2,
    });
    const now = new Date(start + 5_000);
    const turn = toTurn(4, record, eventsOfTurn(events, { includePayload: false }), now);
    expect(turn).toMatchObject({ turn: 4, final_output: 'The report' });
    expect(turn.events.map(({ type }) => type)).not.toContain('LLM_PARTIAL');
    expect(turn.events.every((shown) => !('payload' in shown))).toBe(true);
    expect(turn.metadata).toMatchObject({ execution_time_ms: 5_000, agents_involved: ['b', 'writer'] });
    const shown = eventsOfTurn(events, { includePayload: true });
    const whole = toTurn(1, { ...record, result: 'Final' }, shown, now);
    expect([whole.final_output, whole.events.at(-1)?.payload]).toEqual(['Final', { citations: 1 }]);
  });
});
