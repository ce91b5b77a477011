import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from './support/client.ts';
import { taskPath } from './support/client.ts';
import { CLAIM, ready, text } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { readStream } from './support/sse.ts';

const MARKUP = [
  '<img src=x onerror=alert(1)>',
  '[x](javascript:alert(1))',
  '![a](http://example.invalid/?q=secret)',
  '<svg/onload=alert(1)>',
  '</script><script>alert(1)</script>',
];
const HOSTILE = MARKUP.join(' and ');

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

/** JSON that no browser takes for a page. */
function expectInert({ headers }: Answer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

/** Nothing that a renderer of Markdown would load or run. */
function expectNeutral(markdown: string): void {
  expect(markdown).not.toMatch(/<[a-z!/]/i);
  expect(markdown).not.toMatch(/!\[/);
  expect(markdown).not.toMatch(/\]\(\s*<?\s*(?!https?:|mailto:)/i);
}

describe('P112 markup in the text of people and models', () => {
  test('query, feedback and plan: kept letter by letter as data, served as JSON that is not sniffed', async () => {
    product.model.on(HOSTILE, ({ kind }) => (kind === 'plan' ? ready(`Plan: ${HOSTILE}`) : undefined));
    const id = await product.submit(HOSTILE, { require_review: true, note: HOSTILE });
    await product.review(id);
    const fed = await product.feedback(id, HOSTILE);
    expect(fed.json.rounds.map(({ message }: { message: string }) => message)).toEqual([
      `Plan: ${HOSTILE}`,
      HOSTILE,
      `Plan: ${HOSTILE}`,
    ]);
    const edited = await product.act(id, { action: 'edit', plan: HOSTILE });
    expect(edited.json.current_plan).toBe(HOSTILE);
    const paths = [
      '',
      '/events',
      '/timeline',
      '/review',
      '/review/versions',
      '/review/diff?from=1&to=3',
      '/review/audit',
    ];
    const answers = await Promise.all(paths.map((suffix) => product.ask(taskPath(id, suffix))));
    for (const answer of [fed, edited, ...answers, await product.ask('/api/v1/tasks')]) expectInert(answer);
    expect((await product.task(id)).query).toBe(HOSTILE);

    const reader = readStream(product.stack.gatewayUrl, id);
    await reader.has('RESEARCH_PLAN_EDITED');
    expect(reader.headers()).toMatchObject({
      'content-type': 'text/event-stream',
      'x-content-type-options': 'nosniff',
    });
    expect(reader.data().at(-1).message).toBe(HOSTILE);
    reader.close();
    await product.control(id, 'cancel', HOSTILE);
    expect((await product.ended(id)).error).toBe(`task cancelled: ${HOSTILE}`);
  });

  test('refusals that repeat what was sent are JSON too', async () => {
    const hostile = encodeURIComponent('<script>alert(1)</script>');
    for (const path of [`/api/v1/tasks/${hostile}`, `/${hostile}`, `/api/v1/tasks?status=${hostile}`]) {
      const answer = await product.ask(path);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expectInert(answer);
      expect(answer.text).not.toContain('<script>');
    }
  });

  test('a report loads and runs nothing when it is rendered; its citations lead to the sources and nowhere else', async () => {
    const query = `A report of a hostile model: ${HOSTILE}`;
    const body = `## Causes\n\n${CLAIM}\n\n${MARKUP.join('\n\n')}\n\n[r]: javascript:alert(1)\n\n![a][r]`;
    product.model.on(query, ({ kind }) => (kind === 'write' ? text(body) : undefined));
    const id = await product.submit(query, { force_research: true });
    const task = await product.ended(id);
    expect(task.status).toBe('TASK_STATUS_COMPLETED');
    expectNeutral(task.result);
    expect(task.result).toContain('[1]');
    const output = (await product.events(id)).find(({ type }) => type === 'LLM_OUTPUT');
    expect(output?.message).toBe(task.result);
    const citations = task.metadata['citations'] as { url: string }[];
    expect(citations.length).toBeGreaterThan(0);
    for (const { url } of citations) expect(url).toMatch(/^(https?:\/\/|file:|[\w./-]+\.md)/);
  });

  test('the answer to a task that is not research is neutral too', async () => {
    const query = `An answer: ${HOSTILE}`;
    product.model.on(query, () => text(`Forty-two. ${HOSTILE}\n\n\`\`\`html\n<b>code</b>\n\`\`\``));
    const id = await product.submit(query);
    const { result } = await product.ended(id);
    expect(result).toContain('```html\n<b>code</b>\n```');
    expectNeutral(result.replace(/```[\s\S]*```/, ''));
    expect(result.startsWith('Forty-two. ')).toBe(true);
  });
});
