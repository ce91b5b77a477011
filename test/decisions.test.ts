import type { AuditEntry } from '@plangate/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { taskPath } from './support/client.ts';
import { PLAN, ready } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

const TERMINAL = /^WORKFLOW_(COMPLETED|FAILED|CANCELLED)$/;
const after = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function opened(query: string): Promise<string> {
  const id = await product.submit(query, { require_review: true });
  await product.review(id);
  return id;
}
const count = (types: string[], type: string) => types.filter((one) => one === type).length;

test('P78 100 approvals at once: 100 times the same 200, one decision, one research', async () => {
  const query = 'Approve a hundred times';
  const id = await opened(query);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => product.approve(id, index % 2 === 0 ? undefined : '1')),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
  for (const { json } of answers) expect(json).toEqual({ status: 'approved', message: 'Research started' });
  expect(new Set(answers.map(({ headers }) => headers.get('etag')))).toEqual(new Set(['"2"']));

  expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
  await product.published(id, 'STREAM_END');
  const types = await product.types(id);
  for (const type of ['RESEARCH_PLAN_APPROVED', 'DELEGATION', 'LLM_OUTPUT', 'WORKFLOW_COMPLETED']) {
    expect([type, count(types, type)]).toEqual([type, 1]);
  }
  expect(product.model.calls(query).map(({ kind }) => kind)).toEqual(['plan', 'decompose', 'write']);
  expect((await product.review(id)).version).toBe(2);
  const { entries } = (await product.ask(taskPath(id, '/review/audit'))).json as { entries: AuditEntry[] };
  const decisions = entries.filter(({ action }) => action === 'approve');
  expect(decisions.map(({ outcome, version }) => [outcome, version])).toEqual([['accepted', 2]]);
  expect((await product.approve(id, '1')).json).toEqual({ status: 'approved', message: 'Research started' });
});

test('P84 approvals and rejections at once: one decision, and nobody is told otherwise', async () => {
  const query = 'Approve and reject';
  const id = await opened(query);
  const actions = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'approve' : 'reject'));
  const answers = await Promise.all(actions.map((action) => product.act(id, { action })));
  const { status, version } = await product.review(id);
  expect(version).toBe(2);
  const won = status === 'approved' ? 'approve' : 'reject';
  const lost = status === 'approved' ? 'Review already approved' : 'Review is closed: rejected';
  for (const [index, action] of actions.entries()) {
    const { status, json } = answers[index]!;
    expect([action, status, action === won ? undefined : json.error]).toEqual(
      action === won ? [action, 200, undefined] : [action, 409, lost],
    );
  }
  const task = await product.ended(id);
  expect(task.status).toBe(won === 'approve' ? 'TASK_STATUS_COMPLETED' : 'TASK_STATUS_CANCELLED');
  const decompositions = product.model.calls(query, 'decompose');
  expect(decompositions).toHaveLength(won === 'approve' ? 1 : 0);
});

/** Who goes first, second and third: every order, and with gaps between them. */
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [2, 0, 1],
  [1, 2, 0],
  [2, 1, 0],
];
const APPROVED_OR_NOT = [
  'approved',
  'A feedback request is in progress. Please wait and try again.',
  'Review is closed: cancelled',
];
const HEARD_OR_NOT = ['reviewing', 'Review already approved', 'Review is closed: cancelled'];
const races = Array.from({ length: 20 }, (_, round) => ({
  round,
  gaps: (ORDERS[round % ORDERS.length] ?? []).map((place) => place * round * 8),
}));

test.concurrent.each(races)(
  'P43 approve, feedback and cancel at once, race $round: one consistent end',
  async ({ round, gaps: [approveAt = 0, feedbackAt = 0, cancelAt = 0] }) => {
    const query = `Race ${round}`;
    const revised = `Revised in race ${round}`;
    product.model.on(query, ({ kind, prompt }) =>
      kind === 'plan' && !prompt.includes('Round 0 of')
        ? after((round % 4) * 15).then(() => ready(revised))
        : undefined,
    );
    const id = await opened(query);
    const [approval, feedback, cancel] = await Promise.all([
      after(approveAt).then(() => product.approve(id)),
      after(feedbackAt).then(() => product.feedback(id, 'A last wish')),
      after(cancelAt).then(() => product.control(id, 'cancel')),
    ]);
    const task = await product.ended(id);
    await product.published(id, 'STREAM_END');
    const review = await product.review(id);
    const types = await product.types(id);

    const approved = approval.status === 200;
    const heard = feedback.status === 200;
    expect(APPROVED_OR_NOT).toContain(approval.json.error ?? approval.json.status);
    expect(HEARD_OR_NOT).toContain(feedback.json.error ?? feedback.json.status);
    expect(cancel.status).toBe(202);
    expect(review).toMatchObject({
      status: approved ? 'approved' : 'cancelled',
      version: heard ? 3 : 2,
      current_plan: heard ? revised : PLAN,
      decision: { action: approved ? 'approve' : 'cancel' },
    });
    expect(review.rounds).toHaveLength(heard ? 3 : 1);
    expect(task).toMatchObject({ status: 'TASK_STATUS_CANCELLED', result: '', error: 'task cancelled' });
    expect(types.filter((type) => TERMINAL.test(type))).toEqual(['WORKFLOW_CANCELLED']);
    expect(count(types, 'RESEARCH_PLAN_APPROVED')).toBe(approved ? 1 : 0);
    expect(count(types, 'REVIEW_CANCELLED')).toBe(approved ? 0 : 1);
    expect(count(types, 'REVIEW_USER_FEEDBACK')).toBe(heard ? 1 : 0);
    expect(count(types, 'RESEARCH_PLAN_UPDATED')).toBe(heard ? 1 : 0);
    const decompositions = product.model.calls(query, 'decompose');
    expect(decompositions.length).toBeLessThanOrEqual(approved ? 1 : 0);
    for (const { prompt } of decompositions) expect(prompt).toContain(review.current_plan);
  },
);
