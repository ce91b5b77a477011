import { approvalSignal, type WorkflowId } from '@plangate/contracts';
import { endTask } from '@plangate/tasks/redis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { ALICE, openReview, type Rig, recordOf, startRig } from './rig.ts';

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

const path = (id: string, suffix = '') => `/api/v1/tasks/${id}${suffix}`;
/** A submitted task whose workflow exists but runs nowhere. */
async function submitted(context: Record<string, unknown> = {}): Promise<WorkflowId> {
  const { json } = await rig.post('/api/v1/tasks', { query: 'What is known?', context });
  return json.task_id;
}

describe('submit', () => {
  test('answers 200 with both ids and headers, and starts the workflow under the id of the task', async () => {
    const answer = await rig.post('/api/v1/tasks', {
      query: 'What is known?',
      session_id: 'my-session',
      context: { require_review: true, review_timeout: 60 },
      model_tier: 'small',
    });
    expect(answer.status).toBe(200);
    const id = answer.json.task_id;
    expect(id).toMatch(/^task-[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(answer.json).toEqual({
      task_id: id,
      status: 'STATUS_CODE_OK',
      message: 'Task submitted successfully. Session: my-session',
      created_at: expect.stringMatching(/Z$/),
      workflow_id: id,
      session_id: 'my-session',
    });
    expect(answer.headers).toMatchObject({ 'x-workflow-id': id, 'x-session-id': 'my-session' });
    expect(await temporal.started(id)).toMatchObject({
      type: 'ResearchWorkflow',
      taskQueue: rig.taskQueue,
      input: {
        workflow_id: id,
        owner: ALICE,
        query: 'What is known?',
        review: { timeout_seconds: 60, max_rounds: 10 },
        model: { model_tier: 'small' },
      },
    });
    expect((await rig.tasks.load(id))?.start.confirmed).toBe(true);
  });

  test('a task without research starts the other workflow, in a session of its own', async () => {
    const { json } = await rig.post('/api/v1/tasks', { query: 'Hello' });
    expect(json.session_id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await temporal.started(json.task_id))?.type).toBe('TaskWorkflow');
  });

  test('submit with stream answers 201 with the address of the stream, which works', async () => {
    const answer = await rig.post('/api/v1/tasks/stream', { query: 'Hello' });
    const id = answer.json.task_id;
    const stream_url = `/api/v1/stream/sse?workflow_id=${id}`;
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({ workflow_id: id, task_id: id, stream_url });
    expect(answer.headers).toMatchObject({
      'x-workflow-id': id,
      'x-session-id': expect.any(String),
      link: `<${stream_url}>; rel="stream"`,
    });
    expect((await rig.ask(stream_url, { method: 'HEAD' })).status).toBe(200);
  });

  test('what is wrong with a submission is 400 with its text, and nothing is recorded', async () => {
    const count = async () => (await rig.ask('/api/v1/tasks')).json.total_count;
    const before = await count();
    const wrong: [unknown, string][] = [
      [{}, 'Query is required'],
      [{ query: ' \u3000' }, 'Query is required'],
      [{ query: 'x', context: [] }, 'Invalid request body'],
      [{ query: 'x', mode: 'fast' }, 'Invalid mode (allowed: simple, standard, complex, supervisor)'],
      [
        { query: 'x', context: { require_reveiw: true } },
        "Unknown key 'require_reveiw' (did you mean 'context.require_review'?)",
      ],
      [
        { query: 'x', context: { require_review: true, review_timeout: 0 } },
        'review_timeout out of range (1..2592000)',
      ],
    ];
    for (const [body, text] of wrong) {
      for (const route of ['/api/v1/tasks', '/api/v1/tasks/stream']) {
        const answer = await rig.post(route, body);
        expect([answer.status, answer.json.error]).toEqual([400, text]);
      }
    }
    expect((await rig.ask('/api/v1/tasks', { method: 'POST', raw: '[1]' })).json.error).toBe(
      'Invalid request body',
    );
    expect(await count()).toBe(before);
  });

  test('the body of a task may have 1 MiB, not more', async () => {
    const fill = (bytes: number) => ({ query: 'x', other: 'a'.repeat(bytes) });
    expect((await rig.post('/api/v1/tasks', fill(1_000_000))).status).toBe(200);
    expect((await rig.post('/api/v1/tasks', fill(1_100_000))).status).toBe(413);
  });
});

describe('reading', () => {
  test('GET task, control-state, events and timeline show the own task', async () => {
    const id = await submitted({ force_research: true });
    const read = await rig.ask(path(id));
    expect(read.headers['x-workflow-id']).toBe(id);
    expect(read.json).toMatchObject({
      task_id: id,
      workflow_id: id,
      status: 'TASK_STATUS_QUEUED',
      result: '',
      context: { force_research: true },
    });
    expect((await rig.ask(path(id, '/control-state'))).json).toEqual({
      is_paused: false,
      is_cancelled: false,
      paused_at: '',
      pause_reason: '',
      paused_by: '',
      cancel_reason: '',
      cancelled_by: '',
    });
    expect((await rig.ask(path(id, '/events'))).json).toEqual({ events: [], count: 0 });
    const notes = Array.from({ length: 600 }, (_, n) => ({
      type: 'PROGRESS' as const,
      agent_id: 'a',
      message: `${n}`,
    }));
    await rig.events.append(id, notes);
    const page = (await rig.ask(path(id, '/events?limit=3&offset=2'))).json;
    expect([page.count, page.events.map(({ seq }: { seq: number }) => seq)]).toEqual([3, [3, 4, 5]]);
    expect((await rig.ask(path(id, '/events'))).json.count).toBe(50);
    const timeline = (await rig.ask(path(id, '/timeline'))).json;
    expect([timeline.workflow_id, timeline.events.length]).toEqual([id, 600]);
  });

  test('bad values of a list are 400 with their texts', async () => {
    const id = await submitted();
    const texts: [string, string][] = [
      ...['0', '101', '-1', 'x', '1.5', ''].map((v): [string, string] => [
        `/api/v1/tasks?limit=${v}`,
        'Invalid limit parameter',
      ]),
      ...['-1', 'x', ''].map((v): [string, string] => [
        `/api/v1/tasks?offset=${v}`,
        'Invalid offset parameter',
      ]),
      ...['done', '', 'TASK_STATUS_'].map((v): [string, string] => [
        `/api/v1/tasks?status=${v}`,
        'Invalid status value',
      ]),
      ['/api/v1/tasks?session_id=a%20b', 'Invalid session_id format'],
      [path(id, '/events?limit=201'), 'Invalid limit parameter'],
      [path(id, '/events?offset=-1'), 'Invalid offset parameter'],
    ];
    for (const [target, text] of texts) {
      const answer = await rig.ask(target);
      expect([target, answer.status, answer.json.error]).toEqual([target, 400, text]);
    }
  });

  test('lists filter by session and by status in any spelling, newest first', async () => {
    const one = recordOf({}, ALICE, new Date(Date.now() - 2_000));
    const two = recordOf({}, ALICE, new Date(Date.now() - 1_000));
    for (const record of [one, two]) await rig.tasks.create({ ...record, session_id: 'filtered' });
    await endTask(
      one.task_id,
      { kind: 'completed', result: 'r' },
      { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 },
    );
    const ids = async (query: string) =>
      (await rig.ask(`/api/v1/tasks?session_id=filtered${query}`)).json.tasks.map(
        (t: { task_id: string }) => t.task_id,
      );
    expect(await ids('')).toEqual([two.task_id, one.task_id]);
    expect(await ids('&limit=1&offset=1')).toEqual([one.task_id]);
    for (const status of ['completed', 'COMPLETED', 'task_status_completed', 'TASK_STATUS_Completed']) {
      expect(await ids(`&status=${status}`)).toEqual([one.task_id]);
    }
  });

  test('GET …/stream leads to the event stream, with what was asked for', async () => {
    const id = await submitted();
    const answer = await rig.ask(path(id, '/stream?types=A,B&last_event_id=3&token=x'));
    expect([answer.status, answer.headers.location]).toEqual([
      307,
      `/api/v1/stream/sse?workflow_id=${id}&types=A%2CB&last_event_id=3`,
    ]);
  });
});

describe('control', () => {
  const control = (id: string, action: string, body?: unknown) =>
    rig.ask(path(id, `/${action}`), { method: 'POST', ...(body === undefined ? {} : { body }) });

  test('pause, resume and cancel are signals with reason and who; the body may be absent', async () => {
    const id = await submitted({ force_research: true });
    expect((await control(id, 'pause', { reason: 'lunch' })).json).toEqual({
      success: true,
      message: 'Pause signal sent',
      task_id: id,
    });
    await rig.tasks.setPaused(id, { reason: 'lunch', by: 'alice' });
    expect((await control(id, 'resume')).json.message).toBe('Resume signal sent');
    const cancelled = await control(id, 'cancel', { reason: 'enough', by: 'root' });
    expect([cancelled.status, cancelled.json.message]).toEqual([202, 'Task cancelled successfully']);
    expect(await temporal.signals(id)).toEqual([
      { name: 'pause', payload: { reason: 'lunch', by: 'alice' } },
      { name: 'resume', payload: { reason: '', by: 'alice' } },
      { name: 'cancel', payload: { reason: 'enough', by: 'alice' } },
    ]);
  });

  test('what is impossible in this state is 409 with the reason', async () => {
    const id = await submitted({ force_research: true });
    expect((await control(id, 'resume')).json.error).toBe('task is not paused');
    await rig.tasks.setPaused(id, { reason: '', by: 'alice' });
    expect((await control(id, 'pause')).json.error).toBe('task is already paused');
    await endTask(
      id,
      { kind: 'completed', result: 'r' },
      { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 },
    );
    for (const action of ['pause', 'resume', 'cancel']) {
      const refused = await control(id, action);
      expect([refused.status, refused.json.error]).toEqual([409, `cannot ${action} completed task`]);
    }
    const { json } = await control(id, 'cancel', { reason: 'x'.repeat(2_001) });
    expect(json).toEqual({
      error: 'reason exceeds maximum length (2000 characters)',
      code: 'reason_too_long',
      limit: 2_000,
      length: 2_001,
    });
  });

  test('a run that is over before its record says so is 409', async () => {
    const id = await submitted({ force_research: true });
    await temporal.client.workflow.getHandle(id).terminate();
    for (const action of ['pause', 'cancel']) expect((await control(id, action)).status).toBe(409);
  });

  test('cancel twice is 202 twice', async () => {
    const id = await submitted({ force_research: true });
    expect((await control(id, 'cancel')).status).toBe(202);
    await rig.tasks.setCancelling(id, { reason: '', by: 'alice' });
    expect((await control(id, 'cancel')).status).toBe(202);
    await endTask(id, { kind: 'cancelled' }, { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 });
    expect((await control(id, 'cancel')).status).toBe(202);
    expect((await temporal.signals(id)).map(({ name }) => name)).toEqual(['cancel']);
  });

  test.each(['an open review', 'a review that is not made yet'])(
    'cancel closes %s first, so an approve is 409',
    async (kind) => {
      const id = await submitted({ require_review: true });
      if (kind === 'an open review') await openReview(rig.reviews, id);
      expect((await control(id, 'cancel', { reason: 'stop' })).status).toBe(202);
      const { state } = await rig.reviews.load(id);
      expect(state).toMatchObject({
        status: 'cancelled',
        decision: { action: 'cancel', by: 'alice', reason: 'stop' },
      });
      expect(await temporal.signals(id)).toEqual([
        { name: 'cancel', payload: { decision_id: state?.decision?.id, reason: 'stop', by: 'alice' } },
      ]);
      const approve = await rig.post(path(id, '/review'), { action: 'approve' });
      expect([approve.status, approve.json.error]).toEqual([409, 'Review is closed: cancelled']);
      expect((await control(id, 'cancel')).status).toBe(202);
    },
  );

  test('cancel after an approval leaves the review approved and signals without a decision', async () => {
    const id = await submitted({ require_review: true });
    await openReview(rig.reviews, id);
    await rig.post(path(id, '/review'), { action: 'approve' });
    expect((await control(id, 'cancel')).status).toBe(202);
    expect((await rig.reviews.load(id)).state?.status).toBe('approved');
    expect((await temporal.signals(id)).at(-1)).toEqual({
      name: 'cancel',
      payload: { reason: '', by: 'alice' },
    });
  });
});

describe('decisions', () => {
  test('P94 approve and reject wake the workflow with the decision that is stored', async () => {
    for (const action of ['approve', 'reject'] as const) {
      const id = await submitted({ require_review: true });
      await openReview(rig.reviews, id);
      const answer = await rig.post(path(id, '/review'), { action, reason: 'because' });
      expect(answer.status).toBe(200);
      if (action === 'approve')
        expect(answer.json).toEqual({ status: 'approved', message: 'Research started' });
      const { state, undelivered } = await rig.reviews.load(id);
      const decision = state!.decision!;
      // Only the workflow's acknowledgement makes it delivered.
      expect(undelivered).toBe(decision.id);
      expect(await temporal.signals(id)).toEqual([
        {
          name: approvalSignal(id),
          payload: {
            approved: action === 'approve',
            decision_id: decision.id,
            version: 2,
            plan_sha256: state!.plan_sha256,
            approved_by: 'alice',
            ...(action === 'reject' ? { reason: 'because' } : {}),
          },
        },
      ]);
    }
  });

  test('P89 an approve whose answer was lost is sent again with the same decision', async () => {
    const id = await submitted({ require_review: true });
    await openReview(rig.reviews, id);
    await rig.post(path(id, '/review'), { action: 'approve' }, { 'If-Match': '1' });
    const again = await rig.post(path(id, '/review'), { action: 'approve' }, { 'If-Match': '1' });
    expect([again.status, again.json.message]).toEqual([200, 'Research started']);
    const ids = (await temporal.signals(id)).map(
      ({ payload }) => (payload as { decision_id: string }).decision_id,
    );
    expect(new Set(ids).size).toBe(1);
  });

  test('an approve of a run that is over is taken back: 409, and the review says cancelled', async () => {
    const id = await submitted({ require_review: true });
    await openReview(rig.reviews, id);
    await temporal.client.workflow.getHandle(id).terminate();
    const answer = await rig.post(path(id, '/review'), { action: 'approve' });
    expect([answer.status, answer.json.error, answer.headers.etag]).toEqual([
      409,
      'Review is closed: cancelled',
      '"3"',
    ]);
    expect((await rig.ask(path(id, '/review'))).json.status).toBe('cancelled');
  });
});
