import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { taskPath } from './support/client.ts';
import { type Product, startProduct } from './support/product.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

interface Cases<T> {
  cases: T[];
}
const read = <T>(name: string): T[] =>
  (JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')) as Cases<T>).cases;

interface FlagCase {
  context: unknown;
  body?: Record<string, unknown>;
  review?: boolean;
  error?: string;
}
const flags = read<FlagCase>('context-flags').map((row) => ({ name: JSON.stringify(row), ...row }));
const accepted = flags.filter(({ error }) => error === undefined);
const refused = flags.filter(({ error }) => error !== undefined);

const submit = (body: unknown) => product.post('/api/v1/tasks', body);
const refusal = async (body: unknown) => {
  const { status, json } = await submit(body);
  return [status, json.error];
};
const recorded = async (): Promise<number> => (await product.ask('/api/v1/tasks?limit=1')).json.total_count;

describe('context flags', () => {
  test.each(accepted.filter(({ review }) => review))('$name: the plan waits', async ({ context, body }) => {
    const query = `Held: ${JSON.stringify({ context, body })}`;
    const { status, json } = await submit({ query, context, ...body });
    expect(status).toBe(200);
    const { status: held, created_at, expires_at } = await product.review(json.task_id);
    expect(held).toBe('reviewing');
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(900_000);
    expect(product.model.calls(query).map(({ kind }) => kind)).toEqual(['plan']);
  });

  test.each(accepted.filter(({ review }) => !review))('$name: nothing waits', async ({ context, body }) => {
    const query = `Free: ${JSON.stringify({ context, body })}`;
    const { status, json } = await submit({ query, context, ...body });
    expect(status).toBe(200);
    const review = await product.ask(taskPath(json.task_id, '/review'));
    expect([review.status, review.json.error]).toEqual([404, 'Review session not found or expired']);
    expect((await product.ended(json.task_id)).status).toBe('TASK_STATUS_COMPLETED');
    const kinds = product.model.calls(query).map(({ kind }) => kind);
    expect(kinds).toEqual(context === null ? ['answer'] : ['plan', 'decompose', 'write']);
  });

  test.each(refused)('$name: 400 and no task', async ({ context, body, error }) => {
    const before = await recorded();
    expect(await refusal({ query: 'Refused', context, ...body })).toEqual([400, error]);
    expect(await recorded()).toBe(before);
  });

  test.each([
    [{ review_timeot: 60 }, 'review_timeot', 'review_timeout'],
    [{ reviewPlan: 'manual' }, 'reviewPlan', 'review_plan'],
    [{ FORCE_RESEARCH: true }, 'FORCE_RESEARCH', 'force_research'],
    [{ 'force-research': true }, 'force-research', 'force_research'],
  ])('a near miss of a guarded key is named: %j', async (context, key, known) => {
    const text = `Unknown key '${key}' (did you mean 'context.${known}'?)`;
    expect(await refusal({ query: 'x', context })).toEqual([400, text]);
    expect(await refusal({ query: 'x', ...context })).toEqual([400, text]);
  });

  test('a review wins over mode', async () => {
    const id = await product.submit('Simple but held', { require_review: true }, { mode: 'simple' });
    expect((await product.review(id)).status).toBe('reviewing');
    expect((await product.task(id)).mode).toBe('simple');
  });

  test('other keys are kept and handed to the planner', async () => {
    const query = 'With a context';
    const id = await product.submit(query, { require_review: true, audience: 'children', depth: { a: [1] } });
    await product.review(id);
    expect((await product.task(id)).context).toMatchObject({ audience: 'children', depth: { a: [1] } });
    expect(product.model.calls(query)[0]?.prompt).toContain('"audience": "children"');
  });
});

interface TimeoutCase {
  value: unknown;
  absent?: boolean;
  seconds?: number;
  error?: boolean;
}
const timeouts = read<TimeoutCase>('review-timeout').map((row) => ({ name: JSON.stringify(row), ...row }));

describe('review_timeout', () => {
  test.each(timeouts.filter(({ error }) => !error))(
    'P04 $name is honoured',
    async ({ value, absent, seconds }) => {
      const context = { require_review: true, ...(absent ? {} : { review_timeout: value }) };
      const { json } = await submit({ query: 'How long?', context });
      const { created_at, expires_at } = await product.review(json.task_id);
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(seconds! * 1_000);
      // The wait begins with the plan: after the submit, before now.
      expect(Date.parse(created_at)).toBeGreaterThanOrEqual(Date.parse(json.created_at));
      expect(Date.parse(created_at)).toBeLessThanOrEqual(Date.now());
    },
  );

  test.each(timeouts.filter(({ error }) => error))(
    'P04 $name is refused, never clamped',
    async ({ value }) => {
      for (const context of [{ require_review: true, review_timeout: value }, { review_timeout: value }]) {
        expect(await refusal({ query: 'How long?', context })).toEqual([
          400,
          'review_timeout out of range (1..2592000)',
        ]);
      }
    },
  );
});

describe('fields', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ query: undefined }, 'Query is required'],
    [{ query: '' }, 'Query is required'],
    [{ query: ' \n\u3000\u200b' }, 'Query is required'],
    [{ query: 7 }, 'Query is required'],
    [{ query: null }, 'Query is required'],
    [{ query: '研'.repeat(10_001) }, 'Query exceeds 10000 characters'],
    [{ session_id: 'a b' }, 'Invalid session_id format'],
    [{ session_id: 'a'.repeat(129) }, 'Invalid session_id format'],
    [{ research_strategy: 'fast' }, 'Invalid research_strategy (allowed: quick, standard, deep, academic)'],
    [{ mode: 'fast' }, 'Invalid mode (allowed: simple, standard, complex, supervisor)'],
    [{ model_tier: 'huge' }, 'Invalid model_tier (allowed: small, medium, large)'],
    [{ max_concurrent_agents: 0 }, 'max_concurrent_agents out of range (1..20)'],
    [{ max_concurrent_agents: 21 }, 'max_concurrent_agents out of range (1..20)'],
    [{ max_iterations: 0 }, 'max_iterations out of range (1..50)'],
    [{ max_iterations: 51 }, 'max_iterations out of range (1..50)'],
    [{ session_id: 1 }, 'Invalid request body'],
    [{ mode: {} }, 'Invalid request body'],
    [{ max_iterations: '5' }, 'Invalid request body'],
    [{ enable_verification: 'yes' }, 'Invalid request body'],
    [
      { context: { research_strategy: 'fast' } },
      'Invalid research_strategy (allowed: quick, standard, deep, academic)',
    ],
    [{ context: { max_iterations: 51 } }, 'max_iterations out of range (1..50)'],
    [{ context: { enable_citations: 'maybe' } }, 'enable_citations must be true or false'],
  ])('%j: 400 %s, on both routes', async (fields, text) => {
    for (const route of ['/api/v1/tasks', '/api/v1/tasks/stream']) {
      const { status, json } = await product.post(route, { query: 'x', ...fields });
      expect([status, json.error]).toEqual([400, text]);
    }
  });

  test.each(['[]', '"x"', '{', '', 'null'])('the body %j: 400 Invalid request body', async (raw) => {
    const { status, json } = await product.ask('/api/v1/tasks', { method: 'POST', raw });
    expect([status, json.error]).toEqual([400, 'Invalid request body']);
  });

  test('a query may have 10000 characters, counted as code points', async () => {
    expect((await submit({ query: '😀'.repeat(10_000) })).status).toBe(200);
    expect(await refusal({ query: '😀'.repeat(10_001) })).toEqual([400, 'Query exceeds 10000 characters']);
  });

  test('unknown fields are ignored', async () => {
    expect((await submit({ query: 'Ignore the rest', whatever: [1], user_id: 'eve' })).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, string, number]>([
    ['in the context', { research_strategy: 'quick' }, {}, 'quick', 3],
    [
      'at the top level, which wins',
      { research_strategy: 'quick' },
      { research_strategy: 'deep' },
      'deep',
      8,
    ],
  ])(
    'the strategy %s decides how many questions are made',
    async (where, context, top, strategy, questions) => {
      const query = `Strategy ${where}`;
      const id = await product.submit(query, { force_research: true, ...context }, top);
      expect((await product.ended(id)).metadata['strategy']).toBe(strategy);
      const [call] = product.model.calls(query, 'decompose');
      expect(call?.instructions).toContain(`At most ${questions} questions`);
    },
  );
});
