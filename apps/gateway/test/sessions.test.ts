import { endTask, taskKey } from '@plangate/tasks/redis';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { openReview, type Rig, startRig } from './rig.ts';

let rig: Rig;
let temporal: TemporalEyes;
beforeAll(async () => {
  const temporalAddress = inject('temporalAddress');
  temporal = await watchTemporal(temporalAddress);
  rig = await startRig({ temporalAddress });
});
afterAll(async () => {
  await rig.stop();
  await temporal.close();
});

const SESSIONS = '/api/v1/sessions';
const research = { context: { force_research: true, require_review: true } };
const submit = async (session_id: string, query: string, body: object = {}) =>
  (await rig.post('/api/v1/tasks', { query, session_id, ...body })).json.task_id;
const read = async (path: string) => (await rig.ask(`${SESSIONS}${path}`)).json;
const patch = (id: string, body: unknown) => rig.ask(`${SESSIONS}/${id}`, { method: 'PATCH', body });
const remove = (id: string, key = rig.keys.alice) => rig.ask(`${SESSIONS}/${id}`, { method: 'DELETE', key });

describe('sessions', () => {
  test('tasks of one session are one entry of the list, one history and turns from 1', async () => {
    const id = `s-${ulid()}`;
    const first = await submit(id, 'First question', research);
    const second = await submit(id, 'Second question');
    const parts = { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 };
    await endTask(second, { kind: 'completed', result: 'An answer' }, parts);

    const { sessions, total_count } = await read('');
    expect(total_count).toBeGreaterThan(0);
    expect(sessions[0]).toMatchObject({
      session_id: id,
      user_id: 'alice',
      title: 'First question',
      task_count: 2,
      is_research_session: true,
      latest_task_query: 'Second question',
      latest_task_status: 'COMPLETED',
      successful_tasks: 1,
    });
    expect(await read(`/${id}`)).toMatchObject({
      session_id: id,
      task_count: 2,
      research_strategy: 'standard',
    });
    const history = await read(`/${id}/history`);
    expect(history).toMatchObject({ session_id: id, total: 2 });
    expect(history.tasks).toMatchObject([
      { task_id: first, workflow_id: first, status: 'QUEUED', result: '', completed_at: '' },
      { task_id: second, query: 'Second question', status: 'COMPLETED', result: 'An answer' },
    ]);
    const events = await read(`/${id}/events?limit=1&offset=1`);
    expect(events).toMatchObject({ session_id: id, count: 2 });
    expect(events.turns).toMatchObject([
      { turn: 2, task_id: second, user_query: 'Second question', final_output: 'An answer' },
    ]);
    const types = events.turns[0].events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['WORKFLOW_COMPLETED', 'STREAM_END']);
    expect((await read(`/${id}/events?offset=2`)).turns).toEqual([]);
  });

  test('a client that reloads finds the conversation of a review in the turns', async () => {
    const id = `s-${ulid()}`;
    const task = await submit(id, 'What is known?', research);
    await openReview(rig.reviews, task, { message: 'The first plan' });
    await rig.post(`/api/v1/tasks/${task}/review`, { action: 'feedback', message: 'Shorter' });
    await rig.post(`/api/v1/tasks/${task}/review`, { action: 'edit', plan: 'My own plan' });

    const [turn] = (await read(`/${id}/events?include_payload=true`)).turns;
    const said = turn.events.map(({ type, message, payload }: Record<string, never>) => [
      type,
      message,
      payload,
    ]);
    expect(said).toMatchObject([
      ['RESEARCH_PLAN_READY', 'The first plan', { version: 1 }],
      ['REVIEW_USER_FEEDBACK', 'Shorter', { version: 2 }],
      ['RESEARCH_PLAN_UPDATED', 'Plan of round 1', { version: 2 }],
      ['RESEARCH_PLAN_EDITED', expect.any(String), { version: 3 }],
    ]);
    expect(turn).toMatchObject({ final_output: '', metadata: { status: 'QUEUED' } });
    const [bare] = (await read(`/${id}/events`)).turns;
    expect(bare.events[0]).not.toHaveProperty('payload');
  });

  test('a turn whose events are no longer kept stays, with an empty list', async () => {
    const id = `s-${ulid()}`;
    await submit(id, 'Old');
    expect((await read(`/${id}/events`)).turns).toMatchObject([{ user_query: 'Old', events: [] }]);
  });

  test('a task that cannot be read does not take the others of its session away', async () => {
    const id = `s-${ulid()}`;
    await rig.redis.hset(taskKey(await submit(id, 'Spoilt')), 'v', '99');
    await submit(id, 'Whole');
    expect((await read(`/${id}/history`)).tasks).toMatchObject([{ query: 'Whole' }]);
    expect((await read(`/${id}/events`)).turns).toMatchObject([{ turn: 2, user_query: 'Whole' }]);
  });

  test('a history comes whole or in parts, with the total of all', async () => {
    const id = `s-${ulid()}`;
    for (const query of ['One', 'Two', 'Three']) await submit(id, query);
    const queries = async (page: string) => {
      const { tasks, total } = await read(`/${id}/history${page}`);
      return [tasks.map(({ query }: { query: string }) => query), total];
    };
    expect(await queries('')).toEqual([['One', 'Two', 'Three'], 3]);
    expect(await queries('?limit=2&offset=1')).toEqual([['Two', 'Three'], 3]);
    expect(await queries('?offset=3')).toEqual([[], 3]);
    for (const name of ['limit=0', 'limit=1001', 'limit=x', 'offset=-1']) {
      const refused = await rig.ask(`${SESSIONS}/${id}/history?${name}`);
      expect([refused.status, refused.json.error]).toEqual([400, `Invalid ${name.split('=')[0]} parameter`]);
    }
  });

  test('a history counts over logs of many pages', async () => {
    const id = `s-${ulid()}`;
    const task = await submit(id, 'Long');
    const events = Array.from({ length: 450 }, (_, n) => ({
      type: n % 3 ? ('TOOL_INVOKED' as const) : ('AGENT_STARTED' as const),
      agent_id: `a${n % 2}`,
      message: '',
    }));
    await rig.events.append(task, events, { trim: false });
    expect((await read(`/${id}/history`)).tasks).toMatchObject([{ agents_used: 2, tools_invoked: 300 }]);
  });

  test('an answer that would be too large is refused; fewer tasks, or the events of one, are not', async () => {
    const id = `s-${ulid()}`;
    for (const query of ['One', 'Two', 'Three', 'Four']) {
      await rig.redis.hset(taskKey(await submit(id, query)), 'result', 'x'.repeat(9 * 2 ** 20));
    }
    const history = await rig.ask(`${SESSIONS}/${id}/history`);
    expect([history.status, history.json]).toEqual([
      413,
      expect.objectContaining({ code: 'history_too_large', limit: 32 * 2 ** 20 }),
    ]);
    expect((await rig.ask(`${SESSIONS}/${id}/history?limit=3&offset=1`)).status).toBe(200);

    const many = `s-${ulid()}`;
    const busy = await submit(many, 'Many events');
    await submit(many, 'Few events');
    const page = Array.from({ length: 1_000 }, (_, n) => ({
      type: 'PROGRESS' as const,
      agent_id: 'a',
      message: `${n}`,
    }));
    for (let n = 0; n < 20; n += 1) await rig.events.append(busy, page, { trim: false });
    expect((await rig.ask(`${SESSIONS}/${many}/events`)).json.turns[0].events).toHaveLength(20_000);
    await rig.events.append(busy, page.slice(0, 1), { trim: false });
    for (const range of ['', '?limit=1']) {
      const refused = await rig.ask(`${SESSIONS}/${many}/events${range}`);
      expect([refused.status, refused.json.code, refused.json.limit]).toEqual([
        413,
        'too_many_events',
        20_000,
      ]);
    }
    expect((await rig.ask(`${SESSIONS}/${many}/events?offset=1`)).status).toBe(200);
    expect((await rig.ask(`/api/v1/tasks/${busy}/events?offset=20000`)).json.count).toBe(1);
  });

  test('a title is one line of 1 to 60 code points', async () => {
    const id = `s-${ulid()}`;
    await submit(id, 'Question');
    const renamed = await patch(id, { title: '  A\nbetter \u0000 title ' });
    expect([renamed.status, renamed.json]).toEqual([200, { session_id: id, title: 'A better title' }]);
    expect((await read(`/${id}`)).title).toBe('A better title');
    expect((await patch(id, { title: '😀'.repeat(60) })).status).toBe(200);
    const wrong: [unknown, string][] = [
      [{ title: 'x'.repeat(61) }, 'Title must be 60 characters or less'],
      [{ title: ' \u200b ' }, 'Title cannot be empty'],
      [{ title: '' }, 'Title cannot be empty'],
      [{ title: 7 }, 'Invalid request body'],
      [{}, 'Invalid request body'],
    ];
    for (const [body, error] of wrong) {
      const refused = await patch(id, body);
      expect([refused.status, refused.json.error]).toEqual([400, error]);
    }
    expect((await patch('unknown', { title: 'x' })).status).toBe(404);
  });

  test('DELETE is 204 again and again; the session is gone, its tasks run on and stay readable', async () => {
    const id = `s-${ulid()}`;
    const task = await submit(id, 'Question', research);
    for (let n = 0; n < 2; n += 1) expect((await remove(id)).status).toBe(204);
    for (const path of ['', '/history', '/events']) {
      const answer = await rig.ask(`${SESSIONS}/${id}${path}`);
      expect([answer.status, answer.json.error]).toEqual([404, 'Session not found']);
    }
    expect((await rig.ask(`/api/v1/tasks/${task}`)).json).toMatchObject({ session_id: id });
    expect((await temporal.client.workflow.getHandle(task).describe()).status.name).toBe('RUNNING');
    const ids = (await rig.ask('/api/v1/tasks?limit=100')).json.tasks.map(
      (t: { task_id: string }) => t.task_id,
    );
    expect(ids).toContain(task);
  });

  test('P111 another owner sees and changes nothing under the same id', async () => {
    const id = `s-${ulid()}`;
    await submit(id, 'Of Alice');
    for (const key of [rig.keys.bob, rig.keys.carol]) {
      for (const path of ['', '/history', '/events']) {
        expect((await rig.ask(`${SESSIONS}/${id}${path}`, { key })).status).toBe(404);
      }
      const renamed = await rig.ask(`${SESSIONS}/${id}`, { method: 'PATCH', body: { title: 'x' }, key });
      expect(renamed.status).toBe(404);
      expect((await remove(id, key)).status).toBe(204);
    }
    expect((await read(`/${id}`)).title).toBe('Of Alice');
  });

  test('a bad id or parameter is 400', async () => {
    for (const id of ['a%20b', '%ZZ', 'x'.repeat(129)]) {
      expect((await rig.ask(`${SESSIONS}/${id}`)).json.error).toBe('Invalid session_id format');
    }
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'include_payload=maybe']) {
      const answer = await rig.ask(`${SESSIONS}/unknown/events?${query}`);
      expect([answer.status, answer.json.error]).toEqual([400, `Invalid ${query.split('=')[0]} parameter`]);
    }
    expect((await rig.ask(`${SESSIONS}?limit=x`)).status).toBe(400);
  });
});
