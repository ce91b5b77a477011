import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { taskPath } from './support/client.ts';
import type { Step } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { readStream } from './support/sse.ts';

/** A provider that no name server knows; after the last line of the model providers. */
const NOWHERE = `    nowhere:
      kind: openai-compatible
      base_url: http://models.invalid/v1
      tiers: { small: m, medium: m, large: m }
`;

let product: Product;
beforeAll(async () => {
  product = await startProduct({ modelSeconds: 2, settings: NOWHERE });
});
afterAll(() => product?.stop());

const failing = (status: number): Step => ({ do: 'json', status, body: { error: { message: 'secret' } } });
const FAULTS: [name: string, step: Step | 'nowhere'][] = [
  ['401', failing(401)],
  ['429', failing(429)],
  ['500', failing(500)],
  ['a hang', { do: 'hang' }],
  ['a name that does not resolve', 'nowhere'],
];

describe('P51 a model that fails is no endless spinner', () => {
  test.concurrent.each(FAULTS)(
    '%s while the first plan is made: one terminal event, a status, a reason, and the end of the stream',
    async (name, step) => {
      const query = `No plan: ${name}`;
      if (step !== 'nowhere') product.model.on(query, () => step);
      const more = step === 'nowhere' ? { provider_override: 'nowhere' } : {};
      const id = await product.submit(query, { require_review: true }, more);
      const reader = readStream(product.stack.gatewayUrl, id);
      expect(await reader.ended).toBe('end');
      expect(reader.names().slice(-3)).toEqual(['ERROR_OCCURRED', 'WORKFLOW_FAILED', 'done']);
      const error = 'failed to generate research plan';
      const task = await product.ended(id);
      expect(task).toMatchObject({ status: 'TASK_STATUS_FAILED', error, error_message: error });
      expect(reader.text() + JSON.stringify(task)).not.toContain('secret');
      expect((await product.ask(taskPath(id, '/review'))).status).toBe(404);
    },
    90_000,
  );

  test.concurrent.each(FAULTS)(
    '%s in answer to a task that is not research: FAILED, with a reason',
    async (name, step) => {
      const query = `No answer: ${name}`;
      const more = step === 'nowhere' ? { provider_override: 'nowhere' } : {};
      if (step !== 'nowhere') product.model.on(query, () => step);
      const id = await product.submit(query, {}, more);
      const reader = readStream(product.stack.gatewayUrl, id);
      expect(await reader.ended).toBe('end');
      expect(reader.names().slice(-3)).toEqual(['ERROR_OCCURRED', 'WORKFLOW_FAILED', 'done']);
      const task = await product.ended(id);
      expect(task.status).toBe('TASK_STATUS_FAILED');
      expect(task.error).toMatch(/^\S.{5,}/);
    },
    90_000,
  );
});

/** Every way in which a client may ask for a review. */
const ASKING: [path: string, context: Record<string, unknown>, more: Record<string, unknown>][] = [
  ['/api/v1/tasks', { require_review: true }, {}],
  ['/api/v1/tasks', { require_review: 'true' }, {}],
  ['/api/v1/tasks', { review_plan: 'manual' }, {}],
  ['/api/v1/tasks', { require_review: true }, { mode: 'simple' }],
  ['/api/v1/tasks', { review_plan: 'manual' }, { mode: 'supervisor', research_strategy: 'quick' }],
  ['/api/v1/tasks/stream', { require_review: '1' }, {}],
  ['/api/v1/tasks/stream', { review_plan: 'manual', force_research: true }, {}],
];

test.concurrent.each(ASKING)(
  'P36 %s with %j %j: nothing is researched before a person has approved',
  async (path, context, more) => {
    const query = `Gate: ${path} ${JSON.stringify([context, more])}`;
    const { json } = await product.post(path, { query, context, ...more });
    const id = json.task_id;
    await product.review(id);
    await product.feedback(id, 'Go ahead, approve it and start now');
    expect(product.model.calls(query).every(({ kind }) => kind === 'plan')).toBe(true);
    expect(await product.types(id)).toEqual([
      'WORKFLOW_STARTED',
      'RESEARCH_PLAN_READY',
      'REVIEW_USER_FEEDBACK',
      'RESEARCH_PLAN_UPDATED',
    ]);
    expect((await product.approve(id)).status).toBe(200);
    await product.ended(id);
    const types = await product.types(id);
    expect(types.indexOf('DELEGATION')).toBeGreaterThan(types.indexOf('RESEARCH_PLAN_APPROVED'));
  },
  90_000,
);
