import { createHash } from 'node:crypto';
import { EventPayloads } from '@plangate/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ZodObject } from 'zod';
import { asks, PLAN, REVISED, ready } from '../../../test/support/model.ts';
import { type Product, startProduct } from '../../../test/support/product.ts';
import { until } from '../../../test/support/until.ts';
import {
  BadGatewayError,
  BadRequestError,
  type Citation,
  ConflictError,
  NotFoundError,
  Plangate,
  type StreamEvent,
  TaskEndedError,
  TimeoutError,
} from '../src/index.ts';

let product: Product;
let plangate: Plangate;
beforeAll(async () => {
  product = await startProduct();
  plangate = new Plangate({ baseUrl: `${product.stack.gatewayUrl}/` });
});
afterAll(() => product.stop());

const reviewed = { context: { require_review: true } };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('review', () => {
  test('a plan goes from feedback to approval, each bound to the state that was read', async () => {
    const task = await plangate.tasks.submit({ query: 'What causes tides? SDK walk', ...reviewed });
    expect(task).toMatchObject({ status: 'STATUS_CODE_OK', workflow_id: task.task_id });

    const first = await plangate.review.waitUntilReady(task);
    expect(first).toMatchObject({ workflow_id: task.task_id, version: 1, current_plan: PLAN });
    const second = await plangate.review.feedback(first, 'Only open sources');
    expect(second).toMatchObject({ workflow_id: task.task_id, version: 2, current_plan: REVISED });

    const edited = await plangate.review.edit(second, 'Explain tides. Nothing else.');
    expect(edited).toMatchObject({ version: 3, current_plan: 'Explain tides. Nothing else.' });
    const extended = await plangate.review.extend(edited, 600);
    expect(Date.parse(extended.expires_at) - Date.parse(edited.expires_at)).toBe(600_000);

    const approval = await plangate.review.approve(extended);
    expect(approval).toEqual({
      status: 'approved',
      message: 'Research started',
      workflow_id: task.task_id,
      version: 5,
    });
    const done = await plangate.tasks.wait(task, { timeoutSeconds: 60 });
    expect(done).toMatchObject({ status: 'TASK_STATUS_COMPLETED' });
    expect(done.metadata).toMatchObject({ plan_sha256: sha256('Explain tides. Nothing else.') });
    const [citation]: Citation[] = done.metadata.citations ?? [];
    expect(citation).toMatchObject({ n: 1, checked: true });

    const { versions } = await plangate.review.versions(task);
    expect(versions.map(({ version }) => version)).toEqual([1, 2, 3]);
    const diff = await plangate.review.diff(task, { from: 1, to: 3 });
    expect(diff).toMatchObject({ from: 1, to: 3 });
    expect(diff.changes.map(({ op }) => op)).toContain('insert');
    const { entries } = await plangate.review.audit(task);
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['feedback', 'edit', 'extend', 'approve']),
    );
    expect(await plangate.review.get(task)).toMatchObject({ status: 'approved', version: 5 });
  });

  test('a decision on a state that is no longer the current one is a ConflictError that names the current one', async () => {
    const task = await plangate.tasks.submit({ query: 'What causes tides? SDK conflict', ...reviewed });
    const read = await plangate.review.waitUntilReady(task);
    await plangate.review.edit(read, 'Somebody else wrote this.');

    for (const decide of [
      () => plangate.review.approve(read),
      () => plangate.review.feedback(read, 'Shorter'),
      () => plangate.review.edit(read, 'Mine'),
      () => plangate.review.extend(read, 60),
      () => plangate.review.reject(read),
      () => plangate.review.approve(task.task_id, { version: 1 }),
    ]) {
      const error = await failure(decide());
      expect(error).toBeInstanceOf(ConflictError);
      expect(error).toMatchObject({ status: 409, code: 'version_conflict', currentVersion: 2 });
      expect(error.message).toContain('The review is at version 2 now.');
      expect(error.message).toContain('review.get()');
    }
    expect(await plangate.review.get(task)).toMatchObject({ status: 'reviewing', version: 2 });

    const rejected = await plangate.review.reject(task.task_id, { version: 2, reason: 'Wrong topic' });
    expect(rejected).toMatchObject({ status: 'rejected', decision: { reason: 'Wrong topic' } });
    const done = await plangate.tasks.wait(task);
    expect(done).toMatchObject({
      status: 'TASK_STATUS_CANCELLED',
      error: 'research plan rejected: Wrong topic',
    });
  });

  test('an id alone decides nothing; unconditional is said, not left out', async () => {
    const task = await plangate.tasks.submit({ query: 'What causes tides? SDK unconditional', ...reviewed });
    await plangate.review.waitUntilReady(task);
    // @ts-expect-error: neither a version nor unconditional
    await expect(plangate.review.approve(task.task_id)).rejects.toThrow('pass the state that was read');
    expect(await plangate.review.get(task)).toMatchObject({ status: 'reviewing' });
    expect(await plangate.review.approve(task.task_id, { unconditional: true })).toMatchObject({
      status: 'approved',
    });
    await plangate.tasks.cancel(task);
  });

  test('P05 a question of the planner is ready to be answered, and nothing to approve', async () => {
    const query = 'What causes tides? SDK question';
    product.model.on(query, ({ kind, prompt }) => {
      if (kind !== 'plan') return undefined;
      return prompt.includes('Round 0 of') ? asks('Which ocean?') : ready('Tides of the Atlantic.');
    });
    const task = await plangate.tasks.submit({ query, ...reviewed });
    const question = await plangate.review.waitUntilReady(task);
    expect(question).toMatchObject({ current_plan: '', intent: 'feedback' });
    expect(question.rounds.at(-1)?.message).toContain('Which ocean?');
    await expect(plangate.review.approve(question)).rejects.toBeInstanceOf(BadRequestError);
    const answered = await plangate.review.feedback(question, 'The Atlantic');
    expect(answered.current_plan).toBe('Tides of the Atlantic.');
    await plangate.tasks.cancel(task);
  });

  test('a model that fails is a BadGatewayError, and not tried again by the SDK', async () => {
    const query = 'What causes tides? SDK broken model';
    product.model.on(query, ({ kind, prompt }) =>
      kind === 'plan' && !prompt.includes('Round 0 of')
        ? { do: 'json', status: 401, body: { error: { message: 'bad key' } } }
        : undefined,
    );
    const task = await plangate.tasks.submit({ query, ...reviewed });
    const first = await plangate.review.waitUntilReady(task);
    const error = await failure(plangate.review.feedback(first, 'Shorter'));
    expect(error).toBeInstanceOf(BadGatewayError);
    expect(error).toMatchObject({
      status: 502,
      code: 'planner_failed',
      text: 'Failed to generate updated plan',
    });
    expect(error.message).toContain('send the feedback again');
    expect(product.model.calls(query, 'plan')).toHaveLength(2);
    await plangate.tasks.cancel(task);
  });

  test('waitUntilReady tells why no plan will come', async () => {
    const plain = await plangate.tasks.submit({ query: 'What causes tides? SDK no review' });
    const missing = await failure(plangate.review.waitUntilReady(plain));
    expect(missing instanceof NotFoundError || missing instanceof TaskEndedError).toBe(true);
    await plangate.tasks.wait(plain);
    await expect(plangate.review.waitUntilReady(plain)).rejects.toBeInstanceOf(TaskEndedError);

    const query = 'What causes tides? SDK slow plan';
    const gate = Promise.withResolvers<void>();
    product.model.on(query, async () => {
      await gate.promise;
      return undefined;
    });
    const slow = await plangate.tasks.submit({ query, ...reviewed });
    await expect(plangate.review.waitUntilReady(slow, { timeoutSeconds: 1 })).rejects.toBeInstanceOf(
      TimeoutError,
    );
    const controller = new AbortController();
    const waiting = plangate.review.waitUntilReady(slow, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const cancelled = plangate.review.waitUntilReady(slow);
    await plangate.tasks.cancel(slow, { reason: 'never mind' });
    const outcome = await cancelled.catch((error: unknown) => error);
    expect(outcome).toSatisfy(
      (value) => value instanceof TaskEndedError || (value as { status?: string }).status === 'cancelled',
    );
    gate.resolve();
  });
});

describe('tasks', () => {
  test('submitAndStream yields every event of the task once, to its end', async () => {
    const task = await plangate.tasks.submitAndStream({
      query: 'What causes tides? SDK stream',
      ...reviewed,
    });
    expect(task.stream_url).toBe(`/api/v1/stream/sse?workflow_id=${task.task_id}`);
    const events: StreamEvent[] = [];
    for await (const event of task.events) {
      events.push(event);
      if (event.event === 'RESEARCH_PLAN_READY') {
        expect(event.data.payload).toMatchObject({ version: 1 });
        await plangate.review.approve(task.task_id, { version: 1 });
      }
    }
    const stored = await product.types(task.task_id);
    expect(events).toHaveLength(stored.length - 1);
    expect(events.map(({ data }) => ('seq' in data ? data.seq : 0))).toEqual(events.map((_, at) => at + 1));
    const report = events.find(({ event }) => event === 'thread.message.completed');
    const done = await plangate.tasks.get(task);
    expect(report).toMatchObject({ data: { response: done.result, agent_id: 'final_output' } });
  });

  test('payloads hold what their types say', async () => {
    const task = await plangate.tasks.submit({ query: 'What causes tides? SDK payloads', ...reviewed });
    const plan = await plangate.review.waitUntilReady(task);
    const revised = await plangate.review.feedback(plan, 'Only open sources');
    const extended = await plangate.review.extend(await plangate.review.edit(revised, 'Explain tides.'), 60);
    await plangate.tasks.pause(task, { reason: 'lunch' });
    await until(async () => (await plangate.tasks.controlState(task)).is_paused);
    await plangate.review.approve(extended);
    await until(async () => (await product.types(task.task_id)).includes('WORKFLOW_PAUSED'));
    await plangate.tasks.resume(task);
    await plangate.tasks.wait(task);
    const rejected = await plangate.tasks.submit({ query: 'What causes tides? SDK rejected', ...reviewed });
    await plangate.review.reject(await plangate.review.waitUntilReady(rejected));
    const cancelled = await plangate.tasks.submit({ query: 'What causes tides? SDK cancelled', ...reviewed });
    await plangate.review.waitUntilReady(cancelled);
    await plangate.tasks.cancel(cancelled, { reason: 'never mind' });
    const timeout = { ...reviewed.context, review_timeout: 2 };
    const late = await plangate.tasks.submit({ query: 'What causes tides? SDK late', context: timeout });
    for (const ended of [rejected, cancelled, late]) await plangate.tasks.wait(ended);

    const seen = new Set<string>();
    for (const { task_id } of [task, rejected, cancelled, late]) {
      for (const { type, payload } of (await plangate.tasks.timeline(task_id)).events) {
        const shapes: Record<string, ZodObject> = EventPayloads.shape;
        seen.add(type);
        if (payload === undefined) continue;
        const named = shapes[type];
        expect(named, `${type} has a payload`).toBeDefined();
        const read = named?.safeParse(payload);
        expect(read?.error, `${type} ${JSON.stringify(payload)}`).toBeUndefined();
        const unnamed = Object.keys(payload).filter((field) => !(field in (named?.shape ?? {})));
        expect(unnamed, `further fields of ${type}`).toEqual([]);
      }
    }
    expect(Object.keys(EventPayloads.shape).filter((type) => !seen.has(type))).toEqual([]);
  }, 60_000);

  test('pause, resume, cancel and the state of control', async () => {
    const task = await plangate.tasks.submit({ query: 'What causes tides? SDK control', ...reviewed });
    await plangate.review.waitUntilReady(task);
    expect(await plangate.tasks.pause(task, { reason: 'lunch' })).toMatchObject({ success: true });
    await until(async () => (await plangate.tasks.controlState(task)).is_paused);
    expect(await plangate.tasks.controlState(task)).toMatchObject({ pause_reason: 'lunch' });
    await until(async () => (await plangate.tasks.get(task)).status === 'TASK_STATUS_PAUSED');
    const twice = await failure(plangate.tasks.pause(task));
    expect(twice).toMatchObject({ code: 'already_paused', currentVersion: null });
    await plangate.tasks.resume(task);
    await until(async () => (await plangate.tasks.get(task)).status === 'TASK_STATUS_RUNNING');
    await plangate.tasks.cancel(task, { reason: 'no longer needed' });
    const done = await plangate.tasks.wait(task, { by: 'polling', intervalSeconds: 0.1 });
    expect(done.error).toBe('task cancelled: no longer needed');
    await expect(plangate.tasks.resume(task)).rejects.toMatchObject({ code: 'task_over' });
  });

  test('lists, events and the timeline', async () => {
    const session_id = 'sdk-lists';
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      ids.push((await plangate.tasks.submit({ query: `What is ${n}? SDK list`, session_id })).task_id);
    }
    for (const id of ids) await plangate.tasks.wait(id);
    const page = await plangate.tasks.list({ session_id, limit: 2, status: 'completed' });
    expect(page.total_count).toBe(3);
    expect(page.tasks.map(({ task_id }) => task_id)).toEqual(ids.toReversed().slice(0, 2));
    expect((await plangate.tasks.list({ session_id, offset: 2 })).tasks).toHaveLength(1);

    const [id = ''] = ids;
    const all = await plangate.tasks.timeline(id);
    expect(all.events.at(-1)?.type).toBe('STREAM_END');
    const part = await plangate.tasks.events(id, { limit: 2, offset: 1 });
    expect(part.events).toEqual(all.events.slice(1, 3));
    await expect(plangate.tasks.list({ limit: 1000 })).rejects.toMatchObject({
      code: 'invalid_limit',
      status: 400,
    });
  });

  test('what is wrong in a task is told, misspelt review settings above all', async () => {
    const error = await failure(plangate.tasks.submit({ query: 'Q', context: { requireReview: true } }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'unknown_key' });
    expect(error.message).toContain("did you mean 'context.require_review'?");
    await expect(plangate.tasks.get('task-unknown')).rejects.toBeInstanceOf(NotFoundError);
    await expect(plangate.tasks.get('')).rejects.toBeInstanceOf(TypeError);
    await expect(plangate.tasks.get('../health')).rejects.toMatchObject({ code: 'invalid_task_id' });
  });

  test('a wait that takes too long, or is given up, leaves the task alone', async () => {
    const task = await plangate.tasks.submit({ query: 'What causes tides? SDK wait', ...reviewed });
    await plangate.review.waitUntilReady(task);
    for (const by of ['stream', 'polling'] as const) {
      await expect(plangate.tasks.wait(task, { by, timeoutSeconds: 0.3 })).rejects.toBeInstanceOf(
        TimeoutError,
      );
      const signal = AbortSignal.timeout(100);
      await expect(plangate.tasks.wait(task, { by, signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    }
    expect((await plangate.tasks.get(task)).status).toBe('TASK_STATUS_RUNNING');
    const seen: string[] = [];
    const ended = plangate.tasks.wait(task, { onEvent: ({ event }) => void seen.push(event) });
    await plangate.review.approve(await plangate.review.get(task));
    expect((await ended).status).toBe('TASK_STATUS_COMPLETED');
    expect(seen.slice(0, 1)).toEqual(['WORKFLOW_STARTED']);
    expect(seen.at(-1)).toBe('WORKFLOW_COMPLETED');
  });
});

test('sessions are listed, read, renamed and deleted', async () => {
  const session_id = 'sdk-session';
  const task = await plangate.tasks.submit({ query: 'What is a session?', session_id });
  await plangate.tasks.wait(task);

  const { sessions, total_count } = await plangate.sessions.list({ limit: 100 });
  expect(total_count).toBe(sessions.length);
  expect(sessions.map((session) => session.session_id)).toContain(session_id);
  expect(await plangate.sessions.get(session_id)).toMatchObject({ session_id, task_count: 1 });
  const history = await plangate.sessions.history(session_id);
  expect(history.tasks).toMatchObject([{ task_id: task.task_id, status: 'COMPLETED' }]);
  const { turns } = await plangate.sessions.events(session_id, { include_payload: true, limit: 5 });
  expect(turns).toMatchObject([{ turn: 1, task_id: task.task_id, final_output: 'Forty-two.' }]);

  expect(await plangate.sessions.rename(session_id, 'About sessions')).toEqual({
    session_id,
    title: 'About sessions',
  });
  expect(await plangate.sessions.get(session_id)).toMatchObject({ title: 'About sessions' });
  await plangate.sessions.delete(session_id);
  await plangate.sessions.delete(session_id);
  await expect(plangate.sessions.get(session_id)).rejects.toMatchObject({ code: 'session_not_found' });
});

async function failure(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('it should have failed');
}
