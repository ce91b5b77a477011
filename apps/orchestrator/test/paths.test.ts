import { mkdir, writeFile } from 'node:fs/promises';
import { CANCEL_SIGNAL, PAUSE_SIGNAL, RESUME_SIGNAL } from '@plangate/contracts';
import {
  approvePlan,
  cancelReview,
  closeReview,
  createReview,
  editPlan,
  extendReview,
  rejectPlan,
  sha256,
} from '@plangate/review/use-cases';
import { PROJECT_FOLDER } from '@plangate/service';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  CALLER,
  HISTORIES,
  OWNER,
  PLAN,
  QUESTIONS,
  REPORT,
  type Run,
  ready,
  startWorkbench,
  text,
  type Workbench,
} from './workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await startWorkbench();
});
afterAll(() => bench.stop());

const newCommandId = () => ulid();
const ports = () => ({ store: bench.reviews, deliver: bench.deliver, newCommandId });
const request = (run: Run, ifMatch?: string) => ({ workflowId: run.id, caller: CALLER, ifMatch });
const TERMINAL = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED'];

/** Exactly one terminal event, then STREAM_END, whatever the path. */
async function expectEnd(run: Run, terminal: string): Promise<void> {
  const types = await run.types();
  expect(types.filter((type) => TERMINAL.includes(type))).toEqual([terminal]);
  expect(types.slice(-2)).toEqual([terminal, 'STREAM_END']);
}

/** Keeps the history for the replay test when asked to: `RECORD_HISTORIES=1`. */
async function record(run: Run, name: string): Promise<void> {
  if (process.env['RECORD_HISTORIES'] !== '1') return;
  await mkdir(HISTORIES, { recursive: true });
  const history = await run.handle.fetchHistory();
  const json = historyToJSON(history).replaceAll(PROJECT_FOLDER, '');
  await writeFile(new URL(`${name}.json`, HISTORIES), `${json}\n`);
}

/** How often the engine has tried the activity that is waiting for its next try. */
async function planAttempts(run: Run): Promise<number> {
  const { raw } = await run.handle.describe();
  return raw.pendingActivities?.[0]?.attempt ?? 0;
}

const REVIEWED = { require_review: true };

describe('a reviewed research task', () => {
  it('runs exactly the approved plan and ends with a cited report', async () => {
    bench.provider.script(ready(), text(QUESTIONS), text(REPORT));
    const run = await bench.submit(REVIEWED);
    const { version } = await run.opened();
    const approved = await approvePlan(ports(), request(run, String(version)));
    expect(approved).toMatchObject({ ok: true, delivered: true });
    const task = await run.ended();
    expect(task).toMatchObject({ status: 'TASK_STATUS_COMPLETED', error: null, provider: 'scripted' });
    expect(task.result).toContain('raises a bulge on the near side of the Earth [1].');
    expect(task.metadata).toMatchObject({
      plan_sha256: sha256(PLAN),
      plan_version: 1,
      approved_by: 'ada',
      strategy: 'standard',
      citations: [{ n: 1, checked: true, url: expect.stringContaining('tides.md') }],
    });
    expect(task.context).toMatchObject({
      confirmed_plan: PLAN,
      review_conversation: [{ role: 'assistant' }],
    });
    const types = await run.types();
    expect(types.slice(0, 4)).toEqual([
      'WORKFLOW_STARTED',
      'RESEARCH_PLAN_READY',
      'RESEARCH_PLAN_APPROVED',
      'DELEGATION',
    ]);
    const [approval] = (await bench.events.read(run.id, { limit: 200 })).filter(
      ({ type }) => type === 'RESEARCH_PLAN_APPROVED',
    );
    expect(approval).toMatchObject({
      message: 'Got it — starting research',
      payload: { plan_sha256: sha256(PLAN), approved_by: 'ada', version: 2 },
    });
    await expectEnd(run, 'WORKFLOW_COMPLETED');
    expect((await bench.reviews.load(run.id)).undelivered).toBeNull();
    await record(run, 'approved');
  });

  it('P30 an edited plan is the one that runs, known by its hash', async () => {
    bench.provider.script(ready(), text(QUESTIONS), text(REPORT));
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await editPlan(ports(), { ...request(run), plan: 'Only the spring tides.' });
    await approvePlan(ports(), request(run));
    const task = await run.ended();
    expect(task.metadata['plan_sha256']).toBe(sha256('Only the spring tides.'));
    expect(JSON.stringify(bench.provider.calls[1]?.body)).toContain('Only the spring tides.');
    expect(JSON.stringify(bench.provider.calls[2]?.body)).toContain('Only the spring tides.');
  });

  it('P94 a decision that is recorded without a signal is found when the deadline fires: it wins', async () => {
    bench.provider.script(ready(), text(QUESTIONS), text(REPORT));
    const run = await bench.submit({ ...REVIEWED, review_timeout: 2 });
    await run.opened();
    await approvePlan({ ...ports(), deliver: async () => 'unreachable' }, request(run));
    expect(await run.ended()).toMatchObject({ status: 'TASK_STATUS_COMPLETED', error: null });
    expect(await run.types()).not.toContain('REVIEW_TIMED_OUT');
    await expectEnd(run, 'WORKFLOW_COMPLETED');
    await record(run, 'approved-late');
  });

  it('P12 nobody decides: times out as documented, with one terminal event', async () => {
    bench.provider.script(ready());
    const run = await bench.submit({ ...REVIEWED, review_timeout: 2 });
    expect(await run.ended()).toMatchObject({
      status: 'TASK_STATUS_COMPLETED',
      result: '',
      error: 'research plan review timed out',
    });
    expect((await bench.reviews.load(run.id)).state?.status).toBe('timed_out');
    expect((await run.types()).slice(-4)).toEqual([
      'ERROR_OCCURRED',
      'REVIEW_TIMED_OUT',
      'WORKFLOW_COMPLETED',
      'STREAM_END',
    ]);
    await record(run, 'timed-out');
  });

  it('reminds at 50 % and 80 % of the wait', async () => {
    bench.provider.script(ready());
    const run = await bench.submit({ ...REVIEWED, review_timeout: 6 });
    await run.ended();
    const reminders = (await bench.events.read(run.id, { limit: 50 })).filter(
      ({ type }) => type === 'REVIEW_REMINDER',
    );
    expect(reminders.map(({ payload }) => payload?.['share'])).toEqual([0.5, 0.8]);
  });

  it('an extension moves the deadline: the difference is waited', async () => {
    bench.provider.script(ready());
    const run = await bench.submit({ ...REVIEWED, review_timeout: 2 });
    const { expires_at } = await run.opened();
    const extended = await extendReview(ports(), { ...request(run), seconds: 2, maxSecondsAhead: 2_592_000 });
    if (!extended.ok) throw new Error(extended.error);
    const task = await run.ended();
    const closedAt = Date.parse(task.completed_at ?? '');
    expect(closedAt).toBeGreaterThanOrEqual(Date.parse(expires_at) + 2_000);
    expect(task.error).toBe('research plan review timed out');
    await record(run, 'extended');
  });

  it.each([
    ['too broad', 'research plan rejected: too broad'],
    ['', 'research plan rejected'],
  ])('rejected with the reason "%s": cancelled, and says so', async (reason, error) => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await rejectPlan(ports(), { ...request(run), reason });
    expect(await run.ended()).toMatchObject({ status: 'TASK_STATUS_CANCELLED', result: '', error });
    await expectEnd(run, 'WORKFLOW_CANCELLED');
    await record(run, 'rejected');
  });

  it('P100 a signal without a recorded decision is ignored: the review goes on', async () => {
    bench.provider.script(ready(), text(QUESTIONS), text(REPORT));
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await bench.deliver(run.id, {
      id: 'forged',
      action: 'approve',
      by: 'eve',
      at: new Date().toISOString(),
      version: 2,
      plan_sha256: '',
    });
    await rejectPlan(ports(), { ...request(run), reason: undefined });
    expect((await run.ended()).error).toBe('research plan rejected');
    await record(run, 'forged-signal');
  });

  it('cancelled during the review: the review is closed first, then the task', async () => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    const origin = { workflowId: run.id, owner: OWNER, query: run.input.query, maxRounds: 10 };
    const closed = await cancelReview({ store: bench.reviews, newCommandId }, origin, 'ada', 'not needed');
    if (!closed.ok) throw new Error(closed.error);
    await run.cancel({ decision_id: closed.state.decision?.id ?? '', reason: 'not needed', by: 'ada' });
    expect(await run.ended()).toMatchObject({
      status: 'TASK_STATUS_CANCELLED',
      error: 'task cancelled: not needed',
      control: { is_cancelled: true, cancel_reason: 'not needed', cancelled_by: 'ada' },
    });
    expect(await bench.reviews.load(run.id)).toMatchObject({
      undelivered: null,
      state: { status: 'cancelled' },
    });
    expect((await run.types()).filter((type) => type === 'REVIEW_CANCELLED')).toHaveLength(1);
    await expectEnd(run, 'WORKFLOW_CANCELLED');
    await record(run, 'cancelled-in-review');
  });

  it('a cancel that comes after a rejection, before the workflow has acted on it, leaves it a rejection', async () => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    const unheard = { ...ports(), deliver: async () => 'unreachable' as const };
    await rejectPlan(unheard, { ...request(run), reason: 'too broad' });
    await run.cancel({ reason: 'enough', by: 'ada' });
    expect(await run.ended()).toMatchObject({
      status: 'TASK_STATUS_CANCELLED',
      error: 'research plan rejected: too broad',
    });
    expect((await bench.reviews.load(run.id)).undelivered).toBeNull();
    expect(await run.types()).not.toContain('WORKFLOW_CANCELLING');
    await expectEnd(run, 'WORKFLOW_CANCELLED');
    await record(run, 'cancelled-after-rejection');
  });

  it('a cancel that comes after the time-out leaves it a time-out', async () => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    const origin = { workflowId: run.id, owner: OWNER, query: run.input.query, maxRounds: 10 };
    await closeReview({ store: bench.reviews }, origin, null);
    await run.cancel();
    expect(await run.ended()).toMatchObject({
      status: 'TASK_STATUS_COMPLETED',
      error: 'research plan review timed out',
    });
    await expectEnd(run, 'WORKFLOW_COMPLETED');
  });

  it('cancelled by the engine itself: ends the same way, without a reason', async () => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await run.handle.cancel();
    expect(await run.ended()).toMatchObject({ status: 'TASK_STATUS_CANCELLED', error: 'task cancelled' });
    expect((await bench.reviews.load(run.id)).state?.status).toBe('cancelled');
    await expectEnd(run, 'WORKFLOW_CANCELLED');
    await record(run, 'cancelled-by-engine');
  });

  it('cancelled after the approval: the decision is settled, the review stays approved', async () => {
    bench.provider.script(ready(), { do: 'hang' });
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await approvePlan(ports(), request(run));
    await vi.waitUntil(async () => (await run.types()).includes('RESEARCH_PLAN_APPROVED'), {
      timeout: 10_000,
    });
    await run.cancel({ reason: 'changed my mind', by: 'ada' });
    expect((await run.ended()).error).toBe('task cancelled: changed my mind');
    expect(await bench.reviews.load(run.id)).toMatchObject({
      undelivered: null,
      state: { status: 'approved' },
    });
    await expectEnd(run, 'WORKFLOW_CANCELLED');
    await record(run, 'cancelled-in-research');
  });

  it('cancelled while the first plan is being made: no review is opened later', async () => {
    bench.provider.script({ do: 'hang' });
    const run = await bench.submit(REVIEWED);
    await vi.waitUntil(async () => (await run.types()).includes('WORKFLOW_STARTED'), { timeout: 10_000 });
    await run.cancel();
    expect((await run.ended()).error).toBe('task cancelled');
    expect((await bench.reviews.load(run.id)).state).toMatchObject({
      status: 'cancelled',
      version: 1,
      round: 0,
    });
    await record(run, 'cancelled-in-planning');
  });

  it('P51 planning fails after retries: FAILED with the documented text, and no review', async () => {
    bench.provider.script({ do: 'json', status: 401, body: { error: { message: 'bad key' } } });
    const run = await bench.submit(REVIEWED);
    expect(await run.ended()).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      result: '',
      error: 'failed to generate research plan',
    });
    expect((await bench.reviews.load(run.id)).state).toBeNull();
    await expectEnd(run, 'WORKFLOW_FAILED');
    await record(run, 'planning-failed');
  });

  it('a model service that was away for long does not use up the tries that a failing model has', async () => {
    const failure = { do: 'json', status: 401, body: { error: {} } } as const;
    bench.provider.script(failure, failure, ready());
    const { llmService } = bench.stack.apps;
    await llmService.kill();
    const run = await bench.submit(REVIEWED);
    await vi.waitUntil(async () => (await planAttempts(run)) > 3, { timeout: 20_000, interval: 200 });
    await llmService.restart();
    expect((await run.opened()).current_plan).toBe(PLAN);
    await run.cancel();
    await run.ended();
  });

  it('research fails: FAILED with a short reason, one error event before the terminal one', async () => {
    bench.provider.script(ready(), text(QUESTIONS), { do: 'json', status: 401, body: { error: {} } });
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await approvePlan(ports(), request(run));
    const task = await run.ended();
    expect(task).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      result: '',
      error: 'the model failed to write the report',
    });
    expect((await run.types()).slice(-3)).toEqual(['ERROR_OCCURRED', 'WORKFLOW_FAILED', 'STREAM_END']);
    await record(run, 'research-failed');
  });

  it('a pause during the review holds the research back after the approval, until resume', async () => {
    bench.provider.script(ready(), text(QUESTIONS), text(REPORT));
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await run.handle.signal(PAUSE_SIGNAL, { reason: 'lunch', by: 'ada' });
    await vi.waitUntil(async () => (await run.types()).includes('WORKFLOW_PAUSED'), { timeout: 10_000 });
    expect(await bench.tasks.load(run.id)).toMatchObject({
      status: 'TASK_STATUS_PAUSED',
      control: { is_paused: true, pause_reason: 'lunch', paused_by: 'ada' },
    });
    await approvePlan(ports(), request(run));
    await vi.waitUntil(async () => (await run.types()).includes('RESEARCH_PLAN_APPROVED'), {
      timeout: 10_000,
    });
    expect(bench.provider.calls).toHaveLength(1);
    await run.handle.signal(RESUME_SIGNAL, { reason: '', by: 'ada' });
    expect((await run.ended()).status).toBe('TASK_STATUS_COMPLETED');
    const types = await run.types();
    expect(types.indexOf('DELEGATION')).toBeGreaterThan(types.indexOf('WORKFLOW_RESUMED'));
    await record(run, 'paused');
  });

  it('a pause that comes before the start is recorded after it', async () => {
    bench.provider.script(ready());
    const { orchestrator } = bench.stack.apps;
    await orchestrator.kill();
    const run = await bench.submit(REVIEWED);
    await run.handle.signal(PAUSE_SIGNAL, { reason: '', by: 'ada' });
    await orchestrator.restart();
    await run.opened();
    await vi.waitUntil(async () => (await run.types()).includes('WORKFLOW_PAUSED'), { timeout: 10_000 });
    expect((await run.types())[0]).toBe('WORKFLOW_STARTED');
    await run.cancel();
    await run.ended();
  });

  it('an extension that came before the opening was known moves the deadline all the same', async () => {
    bench.provider.script({ do: 'hang' });
    const run = await bench.submit({ ...REVIEWED, review_timeout: 2 });
    await vi.waitUntil(() => bench.provider.calls.length === 1, { timeout: 10_000 });
    const origin = { workflowId: run.id, owner: OWNER, query: run.input.query, maxRounds: 10 };
    const answer = { model: 'm', provider: 'p', input_tokens: 1, output_tokens: 1, round: 0 };
    const first = { ...answer, message: PLAN, intent: 'ready' as const, plan: PLAN };
    const created = await createReview(bench.reviews, origin, first, 2);
    if (!created.ok) throw new Error(created.error);
    await extendReview(ports(), { ...request(run), seconds: 8, maxSecondsAhead: 2_592_000 });
    // The attempt that opened the review is lost; the next one finds it.
    await bench.stack.apps.orchestrator.kill();
    await bench.stack.apps.orchestrator.restart();
    const task = await run.ended();
    expect(task.error).toBe('research plan review timed out');
    expect(Date.parse(task.completed_at ?? '')).toBeGreaterThanOrEqual(
      Date.parse(created.state.expires_at) + 8_000,
    );
  }, 60_000);

  it('a review that is gone does not stop the deadline: a signal finds nothing, the timer ends it', async () => {
    bench.provider.script(ready());
    const run = await bench.submit({ ...REVIEWED, review_timeout: 3 });
    const { decision: _, ...opened } = await run.opened();
    await bench.forget(run.id);
    await bench.deliver(run.id, {
      id: 'lost',
      action: 'approve',
      by: 'ada',
      at: opened.created_at,
      version: 2,
      plan_sha256: '',
    });
    expect((await run.ended()).error).toBe('research plan review timed out');
  });

  it('an approval that was taken back is not executed when its run lives after all', async () => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    const refused = await approvePlan({ ...ports(), deliver: async () => 'over' }, request(run));
    expect(refused).toMatchObject({ ok: false, error: 'Review is closed: cancelled' });
    const { state } = await bench.reviews.load(run.id);
    await bench.deliver(run.id, { ...state!.decision!, action: 'approve' });
    expect(await run.ended()).toMatchObject({ status: 'TASK_STATUS_CANCELLED', error: 'task cancelled' });
    expect(await run.types()).not.toContain('RESEARCH_PLAN_APPROVED');
  });

  it('a cancel ends the paused wait too', async () => {
    bench.provider.script(ready());
    const run = await bench.submit(REVIEWED);
    await run.opened();
    await run.handle.signal(PAUSE_SIGNAL, { reason: '', by: 'ada' });
    await approvePlan(ports(), request(run));
    await run.handle.signal(CANCEL_SIGNAL, { reason: 'enough', by: 'ada' });
    expect((await run.ended()).error).toBe('task cancelled: enough');
    await record(run, 'cancelled-while-paused');
  });
});

describe('tasks without a review', () => {
  it('research goes on from its plan, with no review state and no RESEARCH_PLAN_* event', async () => {
    bench.provider.script(ready(), text(QUESTIONS), text(REPORT));
    const run = await bench.submit({ force_research: true });
    expect((await run.ended()).status).toBe('TASK_STATUS_COMPLETED');
    expect((await run.types()).filter((type) => type.startsWith('RESEARCH_PLAN'))).toEqual([]);
    expect((await bench.reviews.load(run.id)).state).toBeNull();
    await record(run, 'without-review');
  });

  it('research for which no document fits says so instead of inventing, and asks no model to write', async () => {
    const nothing = JSON.stringify({ questions: [{ id: 'q1', text: 'Zyxwv qponm?', terms: ['zyxwv'] }] });
    bench.provider.script(ready(), text(nothing), text('Invented [1].'));
    const run = await bench.submit({ force_research: true });
    const task = await run.ended();
    expect(task.result).toContain('The documents hold nothing that fits');
    expect(task.metadata).toMatchObject({ citations: [], provider: 'none' });
    expect(bench.provider.calls).toHaveLength(2);
  });

  it('a task that is not research gets one answer', async () => {
    bench.provider.script(text('Forty-two.'));
    const run = await bench.submit({});
    expect(await run.ended()).toMatchObject({ status: 'TASK_STATUS_COMPLETED', result: 'Forty-two.' });
    await expectEnd(run, 'WORKFLOW_COMPLETED');
    await record(run, 'answer');
  });

  it('a task that is not research and gets no answer has failed, and says why', async () => {
    bench.provider.script({ do: 'json', status: 401, body: { error: {} } });
    const run = await bench.submit({});
    expect(await run.ended()).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      error: 'the model failed to answer',
    });
    await expectEnd(run, 'WORKFLOW_FAILED');
    await record(run, 'answer-failed');
  });
});
