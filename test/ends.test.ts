import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { taskPath } from './support/client.ts';
import { brokenModel, PLAN, type Step } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { readStream } from './support/sse.ts';
import { stays, until } from './support/until.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

const REVIEWED = { require_review: true };
const SOMEBODY = '00000000-0000-0000-0000-000000000002';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const TERMINAL = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED'];
const NO_CONTROL = {
  is_paused: false,
  is_cancelled: false,
  paused_at: '',
  pause_reason: '',
  paused_by: '',
  cancel_reason: '',
  cancelled_by: '',
};

let queries = 0;
const newQuery = () => `End ${++queries}`;
async function opened(context = {}): Promise<{ id: string; query: string }> {
  const query = newQuery();
  const id = await product.submit(query, { ...REVIEWED, ...context });
  await product.review(id);
  return { id, query };
}
const controlState = async (id: string) => (await product.ask(taskPath(id, '/control-state'))).json;

/** Exactly one terminal event and then STREAM_END, also on SSE. */
async function expectEnd(id: string, terminal: string): Promise<string[]> {
  await product.published(id, 'STREAM_END');
  const types = await product.types(id);
  expect(types.filter((type) => TERMINAL.includes(type))).toEqual([terminal]);
  expect(types.slice(-2)).toEqual([terminal, 'STREAM_END']);
  const reader = readStream(product.stack.gatewayUrl, id);
  expect(await reader.ended).toBe('end');
  expect(reader.names().filter((name) => /^WORKFLOW_(COM|FAI)|^workflow.cancelled$/.test(name))).toHaveLength(
    1,
  );
  return types;
}

/** Holds the model's answers of one kind for a task until released. */
function holdModel(query: string, kind: string, step?: Step): () => void {
  const gate = Promise.withResolvers<Step | undefined>();
  product.model.on(query, (call) => (call.kind === kind ? gate.promise : undefined));
  return () => gate.resolve(step);
}

describe('time-out', () => {
  test('nobody decides: completed without a result, and the documented error, field by field', async () => {
    const { id, query } = await opened({ review_timeout: 2 });
    const { created_at, session_id } = await product.task(id);
    const task = await product.ended(id);
    expect(task).toEqual({
      task_id: id,
      workflow_id: id,
      status: 'TASK_STATUS_COMPLETED',
      result: '',
      error: 'research plan review timed out',
      error_message: 'research plan review timed out',
      created_at,
      updated_at: TIME,
      completed_at: TIME,
      query,
      session_id,
      mode: 'standard',
      context: { ...REVIEWED, review_timeout: 2 },
      model_used: expect.any(String),
      provider: expect.any(String),
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18, estimated_cost: expect.any(Number) },
      metadata: {},
    });
    const review = await product.review(id);
    expect(review).toMatchObject({ status: 'timed_out', version: 2, current_plan: PLAN });
    expect(Date.parse(task.completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(review.expires_at));
    const types = await expectEnd(id, 'WORKFLOW_COMPLETED');
    expect(types.slice(-4, -2)).toEqual(['ERROR_OCCURRED', 'REVIEW_TIMED_OUT']);
    const error = (await product.events(id)).find(({ type }) => type === 'ERROR_OCCURRED');
    expect(error).toMatchObject({ message: 'Review timed out', payload: { code: 'review_timed_out' } });
    for (const body of [{ action: 'approve' }, { action: 'feedback', message: 'x' }, { action: 'reject' }]) {
      const { status, json } = await product.act(id, body);
      expect([status, json.error]).toEqual([409, 'Review is closed: timed_out']);
    }
    expect(product.model.calls(query)).toHaveLength(1);
  });

  test('extend moves it: the time is waited, and an approval in it counts', async () => {
    const { id } = await opened({ review_timeout: 6 });
    const before = await product.review(id);
    const extended = await product.act(id, { action: 'extend', seconds: 60 }, '1');
    expect([extended.status, extended.headers.get('etag')]).toEqual([200, '"2"']);
    expect(Date.parse(extended.json.expires_at) - Date.parse(before.expires_at)).toBe(60_000);
    const event = (await product.events(id)).find(({ type }) => type === 'REVIEW_EXTENDED');
    expect(event?.payload).toMatchObject({ version: 2, expires_at: extended.json.expires_at });
    await until(() => Date.now() > Date.parse(before.expires_at) + 500);
    expect((await product.review(id)).status).toBe('reviewing');
    expect((await product.approve(id, '2')).status).toBe(200);
    expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
    expect(await product.types(id)).not.toContain('REVIEW_TIMED_OUT');
  });

  test('an extended review that nobody decides times out at its new deadline', async () => {
    const { id } = await opened({ review_timeout: 6 });
    const { status, json } = await product.act(id, { action: 'extend', seconds: 2 });
    expect(status).toBe(200);
    const { completed_at, error } = await product.ended(id);
    expect(error).toBe('research plan review timed out');
    expect(Date.parse(completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(json.expires_at));
    await expectEnd(id, 'WORKFLOW_COMPLETED');
  });

  test.each([0, -1, 1.5, '60', null, 2_592_001, undefined])('extend by %j: 400', async (seconds) => {
    const { id } = await opened();
    const { status, json } = await product.act(id, { action: 'extend', seconds });
    expect([status, json.error]).toEqual([400, 'seconds must be an integer between 1 and 2592000']);
  });

  test('a deadline more than 30 days away: 400', async () => {
    const { id } = await opened();
    const { status, json } = await product.act(id, { action: 'extend', seconds: 2_592_000 });
    expect([status, json.error]).toEqual([400, 'deadline is more than 30 days away']);
  });

  test('P04 people are reminded at half of the wait and at four fifths', async () => {
    const { id } = await opened({ review_timeout: 5 });
    await product.ended(id);
    const reminders = (await product.events(id)).filter(({ type }) => type === 'REVIEW_REMINDER');
    expect(reminders.map(({ payload }) => payload?.['share'])).toEqual([0.5, 0.8]);
  });
});

describe('reject', () => {
  test.each([
    ['too broad', 'research plan rejected: too broad'],
    ['', 'research plan rejected'],
  ])(
    'with the reason "%s": the task is cancelled and says so; an approve after it is 409',
    async (reason, error) => {
      const { id, query } = await opened();
      const rejected = await product.act(id, { action: 'reject', ...(reason ? { reason } : {}) }, '1');
      expect(rejected.status).toBe(200);
      expect(rejected.headers.get('etag')).toBe('"2"');
      expect(rejected.json).toMatchObject({
        status: 'rejected',
        version: 2,
        decision: { action: 'reject', by: SOMEBODY, at: TIME, ...(reason ? { reason } : {}) },
      });
      const approval = await product.approve(id);
      expect([approval.status, approval.json.error]).toEqual([409, 'Review is closed: rejected']);
      expect((await product.act(id, { action: 'reject' }, '"77"')).status).toBe(200);

      const task = await product.ended(id);
      expect(task).toMatchObject({
        status: 'TASK_STATUS_CANCELLED',
        result: '',
        error,
        error_message: error,
      });
      const types = await expectEnd(id, 'WORKFLOW_CANCELLED');
      expect(types.filter((type) => type === 'RESEARCH_PLAN_REJECTED')).toHaveLength(1);
      expect(product.model.calls(query)).toHaveLength(1);
    },
  );

  test('a reason of more than 2000 characters: 400, and the review stays open', async () => {
    const { id } = await opened();
    const { status, json } = await product.act(id, { action: 'reject', reason: '研'.repeat(2_001) });
    expect([status, json.error]).toEqual([400, 'reason exceeds maximum length (2000 characters)']);
    expect((await product.review(id)).status).toBe('reviewing');
  });
});

describe('cancel', () => {
  const CANCELLED = { success: true, message: 'Task cancelled successfully' };

  test('during the review: 202 twice, the review is closed, an approve after it is 409', async () => {
    const { id, query } = await opened();
    for (const _ of [1, 2]) {
      const { status, json } = await product.control(id, 'cancel', 'not needed');
      expect([status, json]).toEqual([202, { ...CANCELLED, task_id: id }]);
    }
    const approval = await product.approve(id);
    expect([approval.status, approval.json.error]).toEqual([409, 'Review is closed: cancelled']);
    expect(await product.review(id)).toMatchObject({ status: 'cancelled', version: 2 });
    const task = await product.ended(id);
    expect(task).toMatchObject({
      status: 'TASK_STATUS_CANCELLED',
      result: '',
      error: 'task cancelled: not needed',
    });
    const types = await expectEnd(id, 'WORKFLOW_CANCELLED');
    expect(types.filter((type) => type === 'REVIEW_CANCELLED')).toHaveLength(1);
    expect(await controlState(id)).toEqual({
      ...NO_CONTROL,
      is_cancelled: true,
      cancel_reason: 'not needed',
      cancelled_by: SOMEBODY,
    });
    expect((await product.control(id, 'cancel')).status).toBe(202);
    expect(product.model.calls(query)).toHaveLength(1);
  });

  test('while the first plan is being made: no review is opened later', async () => {
    const query = newQuery();
    const release = holdModel(query, 'plan');
    const id = await product.submit(query, REVIEWED);
    await until(() => product.model.calls(query).length === 1);
    const waiting = product.ask(taskPath(id, '/review'));
    expect((await product.control(id, 'cancel')).status).toBe(202);
    expect((await waiting).json).toMatchObject({ status: 'cancelled', current_plan: '', rounds: [] });
    release();
    expect(await product.ended(id)).toMatchObject({
      status: 'TASK_STATUS_CANCELLED',
      error: 'task cancelled',
    });
    const types = await expectEnd(id, 'WORKFLOW_CANCELLED');
    expect(types).not.toContain('RESEARCH_PLAN_READY');
    expect(await product.review(id)).toMatchObject({
      status: 'cancelled',
      version: 1,
      round: 0,
      plan_version: 0,
    });
  });

  test('during the research: the review stays approved, nothing is written', async () => {
    const query = newQuery();
    const release = holdModel(query, 'write');
    const id = await product.submit(query, REVIEWED);
    await product.review(id);
    await product.approve(id);
    await until(() => product.model.calls(query, 'write').length === 1);
    expect((await product.control(id, 'cancel', 'changed my mind')).status).toBe(202);
    expect(await product.ended(id)).toMatchObject({
      status: 'TASK_STATUS_CANCELLED',
      result: '',
      error: 'task cancelled: changed my mind',
    });
    release();
    expect((await product.review(id)).status).toBe('approved');
    const types = await expectEnd(id, 'WORKFLOW_CANCELLED');
    expect(types).not.toContain('LLM_OUTPUT');
    expect(types.filter((type) => type === 'RESEARCH_PLAN_APPROVED')).toHaveLength(1);
  });

  test('on SSE it is workflow.cancelling and workflow.cancelled, with that type', async () => {
    const { id } = await opened();
    const reader = readStream(product.stack.gatewayUrl, id);
    await product.control(id, 'cancel');
    expect(await reader.ended).toBe('end');
    expect(reader.names().slice(-3)).toEqual(['workflow.cancelling', 'workflow.cancelled', 'done']);
    expect(
      reader
        .data()
        .slice(-2)
        .map(({ type }) => type),
    ).toEqual(['workflow.cancelling', 'workflow.cancelled']);
    expect((await product.types(id)).slice(-3)).toEqual([
      'WORKFLOW_CANCELLING',
      'WORKFLOW_CANCELLED',
      'STREAM_END',
    ]);
  });
});

describe('pause and resume', () => {
  const paused = async (id: string) => {
    await product.published(id, 'WORKFLOW_PAUSED');
    await until(async () => (await product.task(id)).status === 'TASK_STATUS_PAUSED');
  };

  test('during the review: its answers are the same, the research waits for resume', async () => {
    const { id, query } = await opened();
    expect(await controlState(id)).toEqual(NO_CONTROL);
    const early = await product.control(id, 'resume');
    expect([early.status, early.json.error]).toEqual([409, 'task is not paused']);
    const answer = await product.control(id, 'pause', 'lunch');
    expect([answer.status, answer.json]).toEqual([
      202,
      { success: true, message: 'Pause signal sent', task_id: id },
    ]);
    await paused(id);
    expect(await controlState(id)).toEqual({
      ...NO_CONTROL,
      is_paused: true,
      paused_at: TIME,
      pause_reason: 'lunch',
      paused_by: SOMEBODY,
    });
    const twice = await product.control(id, 'pause');
    expect([twice.status, twice.json.error]).toEqual([409, 'task is already paused']);
    expect((await product.feedback(id, 'While paused')).status).toBe(200);
    expect((await product.approve(id)).json).toEqual({ status: 'approved', message: 'Research started' });
    await product.published(id, 'RESEARCH_PLAN_APPROVED');
    await stays(() => product.model.calls(query, 'decompose').length === 0);
    expect((await product.task(id)).status).toBe('TASK_STATUS_PAUSED');

    const resumed = await product.control(id, 'resume');
    expect([resumed.status, resumed.json]).toEqual([
      202,
      { success: true, message: 'Resume signal sent', task_id: id },
    ]);
    expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
    const types = await expectEnd(id, 'WORKFLOW_COMPLETED');
    expect(types.indexOf('DELEGATION')).toBeGreaterThan(types.indexOf('WORKFLOW_RESUMED'));
    expect(await controlState(id)).toMatchObject({ is_paused: false });
  });

  test('a resume right after a pause is taken, and the task goes on', async () => {
    const { id } = await opened();
    expect((await product.control(id, 'pause')).status).toBe(202);
    expect((await product.control(id, 'pause')).json.error).toBe('task is already paused');
    expect((await product.control(id, 'resume')).status).toBe(202);
    await product.published(id, 'WORKFLOW_RESUMED');
    expect((await product.task(id)).status).toBe('TASK_STATUS_RUNNING');
    expect((await product.control(id, 'cancel')).status).toBe(202);
    expect((await product.control(id, 'pause')).json.error).toBe('cannot pause cancelled task');
  });

  test('during the research: what runs is finished and kept, nothing starts before resume', async () => {
    const query = newQuery();
    const release = holdModel(query, 'decompose');
    const id = await product.submit(query, REVIEWED);
    await product.review(id);
    await product.approve(id);
    await until(() => product.model.calls(query, 'decompose').length === 1);
    expect((await product.control(id, 'pause')).status).toBe(202);
    await product.published(id, 'WORKFLOW_PAUSING');
    release();
    await paused(id);
    // Announced outside of any step: a pause may come a moment before it.
    await product.published(id, 'DELEGATION');
    await stays(async () => !(await product.types(id)).includes('AGENT_STARTED'));
    expect((await product.control(id, 'resume')).status).toBe(202);
    expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
    expect(product.model.calls(query, 'decompose')).toHaveLength(1);
  });

  test('a pause does not stop the deadline of the review', async () => {
    const { id } = await opened({ review_timeout: 2 });
    await product.control(id, 'pause');
    expect((await product.ended(id)).error).toBe('research plan review timed out');
    await expectEnd(id, 'WORKFLOW_COMPLETED');
  });

  test('a cancel ends the paused wait too', async () => {
    const { id } = await opened();
    await product.control(id, 'pause');
    await paused(id);
    await product.approve(id);
    expect((await product.control(id, 'cancel', 'enough')).status).toBe(202);
    expect((await product.ended(id)).error).toBe('task cancelled: enough');
    await expectEnd(id, 'WORKFLOW_CANCELLED');
  });

  test('of a task that is over: 409 with its state', async () => {
    const id = await product.submit(newQuery());
    await product.ended(id);
    for (const action of ['pause', 'resume', 'cancel']) {
      const { status, json } = await product.control(id, action);
      expect([status, json.error]).toEqual([409, `cannot ${action} completed task`]);
    }
  });
});

describe('failure', () => {
  test('P51 no plan after retries: FAILED as documented, a waiting GET review ends with 404', async () => {
    const query = newQuery();
    product.model.on(query, () => brokenModel);
    const id = await product.submit(query, REVIEWED);
    const review = await product.ask(taskPath(id, '/review'));
    expect([review.status, review.json.error]).toEqual([404, 'Review session not found or expired']);
    const error = 'failed to generate research plan';
    expect(await product.ended(id)).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      result: '',
      error,
      error_message: error,
    });
    expect((await expectEnd(id, 'WORKFLOW_FAILED')).slice(-3)[0]).toBe('ERROR_OCCURRED');
  });

  test('a provider without its key: FAILED at once, and the reason names the provider and the variable', async () => {
    const reason = "the model provider 'keyless' has no key: PLANGATE_KEY_THAT_NOBODY_SETS is not set";
    const error = 'failed to generate research plan';
    for (const context of [REVIEWED, { force_research: true }]) {
      const id = await product.submit(newQuery(), context, { provider_override: 'keyless' });
      expect(await product.ended(id)).toMatchObject({
        status: 'TASK_STATUS_FAILED',
        error,
        error_message: error,
        metadata: { reason },
      });
      const { events } = (await product.ask(taskPath(id, '/events'))).json;
      const told = events.find(({ type }: { type: string }) => type === 'ERROR_OCCURRED');
      expect(told).toMatchObject({
        message: `${error}: ${reason}`,
        payload: { code: 'plan_failed', reason },
      });
    }
    const answer = await product.submit(newQuery(), {}, { provider_override: 'keyless' });
    expect(await product.ended(answer)).toMatchObject({ status: 'TASK_STATUS_FAILED', error: reason });
  });

  test('the research fails: FAILED with a short reason', async () => {
    const query = newQuery();
    product.model.on(query, ({ kind }) => (kind === 'write' ? brokenModel : undefined));
    const id = await product.submit(query, REVIEWED);
    await product.review(id);
    await product.approve(id);
    const task = await product.ended(id);
    expect(task).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      result: '',
      error: 'the model failed to write the report',
    });
    expect(task.error_message).toBe(task.error);
    await expectEnd(id, 'WORKFLOW_FAILED');
  });
});

describe('tasks', () => {
  test('a task that is not research gets one answer and has no review', async () => {
    const query = newQuery();
    const id = await product.submit(query);
    expect(await product.ended(id)).toMatchObject({
      status: 'TASK_STATUS_COMPLETED',
      result: 'Forty-two.',
      model_used: 'scripted',
      provider: 'scripted',
      usage: { total_tokens: 18 },
    });
    expect(product.model.calls(query).map(({ kind }) => kind)).toEqual(['answer']);
    expect(await expectEnd(id, 'WORKFLOW_COMPLETED')).toEqual([
      'WORKFLOW_STARTED',
      'LLM_OUTPUT',
      'WORKFLOW_COMPLETED',
      'STREAM_END',
    ]);
    expect((await product.ask(taskPath(id, '/review'))).status).toBe(404);
  });

  test('the list shows the own tasks, newest first, by status in any spelling and by session', async () => {
    const session_id = 'list-session';
    const ids: string[] = [];
    for (const context of [{}, {}, REVIEWED])
      ids.push(await product.submit(newQuery(), context, { session_id }));
    const [first, second, third] = ids as [string, string, string];
    await Promise.all([product.ended(first), product.ended(second), product.review(third)]);
    const list = async (query: string) =>
      (await product.ask(`/api/v1/tasks?session_id=${session_id}${query}`)).json;
    const found = async (query: string) =>
      (await list(query)).tasks.map((task: { task_id: string }) => task.task_id);
    expect(await found('')).toEqual([third, second, first]);
    expect((await list('')).total_count).toBe(3);
    for (const status of ['COMPLETED', 'completed', 'TASK_STATUS_COMPLETED', 'task_status_Completed']) {
      expect(await found(`&status=${status}`)).toEqual([second, first]);
    }
    expect(await found('&status=RUNNING')).toEqual([third]);
    expect(await found('&limit=1&offset=1')).toEqual([second]);
    expect((await list('&status=FAILED')).tasks).toEqual([]);
    expect((await list('&status=completed')).tasks[0]).toEqual({
      task_id: second,
      query: expect.stringMatching(/^End /),
      status: 'TASK_STATUS_COMPLETED',
      mode: expect.any(String),
      created_at: TIME,
      completed_at: TIME,
      total_token_usage: {
        total_tokens: 18,
        cost_usd: expect.any(Number),
        prompt_tokens: 11,
        completion_tokens: 7,
      },
    });
  });

  test.each([
    ['limit=0', 'Invalid limit parameter'],
    ['limit=101', 'Invalid limit parameter'],
    ['limit=ten', 'Invalid limit parameter'],
    ['offset=-1', 'Invalid offset parameter'],
    ['offset=1.5', 'Invalid offset parameter'],
    ['status=DONE', 'Invalid status value'],
    ['status=', 'Invalid status value'],
  ])('the list refuses %s', async (query, text) => {
    const { status, json } = await product.ask(`/api/v1/tasks?${query}`);
    expect([status, json.error]).toEqual([400, text]);
  });

  test('events are paged, the timeline has all, stream redirects', async () => {
    const id = await product.submit(newQuery(), { force_research: true });
    await product.ended(id);
    await product.published(id, 'STREAM_END');
    const all = await product.events(id);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(all[0]).toMatchObject({
      workflow_id: id,
      type: 'WORKFLOW_STARTED',
      agent_id: 'orchestrator',
      message: 'Starting up',
      payload: { task_context: { force_research: true } },
      timestamp: TIME,
      stream_id: expect.stringMatching(/^\d+-\d+$/),
    });
    const page = (await product.ask(taskPath(id, '/events?limit=3&offset=2'))).json;
    expect(page).toEqual({ events: all.slice(2, 5), count: 3 });
    for (const query of ['limit=0', 'limit=201']) {
      const { status, json } = await product.ask(taskPath(id, `/events?${query}`));
      expect([status, json.error]).toEqual([400, 'Invalid limit parameter']);
    }
    const redirect = await product.ask(taskPath(id, '/stream'));
    expect([redirect.status, redirect.headers.get('location')]).toEqual([
      307,
      `/api/v1/stream/sse?workflow_id=${id}`,
    ]);
  });

  test.each([
    ['GET', '', 'Task not found'],
    ['GET', '/events', 'Task not found'],
    ['GET', '/timeline', 'Task not found'],
    ['GET', '/control-state', 'Task not found'],
    ['POST', '/cancel', 'Task not found'],
    ['GET', '/review', 'Review session not found or expired'],
  ])('%s of an unknown task%s: 404', async (method, suffix, text) => {
    const { status, json } = await product.ask(taskPath('task-unknown', suffix), { method });
    expect([status, json.error]).toEqual([404, text]);
  });
});
