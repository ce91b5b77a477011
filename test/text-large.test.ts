import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, Client as EngineClient } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { taskPath } from './support/client.ts';
import { CLAIM, PLAN, ready, text } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { readStream } from './support/sse.ts';

const MIB = 1_024 * 1_024;
/** The engine warns of payloads from 256 KiB and refuses those over 2 MiB. */
const PAYLOAD_BYTES = 256 * 1_024;
const EVENT_BYTES = 64 * 1_024;

const sha256 = (value: string) => createHash('sha256').update(value, 'utf8').digest('hex');
const bytes = (value: string) => Buffer.byteLength(value);

let product: Product;
let documents: string;
let connection: Connection;
let engine: EngineClient;
beforeAll(async () => {
  documents = await mkdtemp(join(tmpdir(), 'plangate-documents-'));
  // Tables stay whole up to 8 000 characters: passages as large as they get.
  for (let n = 0; n < 40; n += 1) await writeFile(join(documents, `tides-${n}.md`), largeTable(n));
  product = await startProduct({ documents, modelSeconds: 60 });
  connection = await Connection.connect({ address: inject('temporalAddress') });
  engine = new EngineClient({ connection });
});
afterAll(async () => {
  await connection?.close();
  await product?.stop();
  await rm(documents, { recursive: true });
});

function largeTable(n: number): string {
  const row = (at: number) =>
    `| harbour ${n}-${at} | tides gravity Moon bulge | harmonic analysis constituents |`;
  const rows = Array.from({ length: 85 }, (_, at) => row(at));
  return `# Tides ${n}\n\n| Harbour | Cause | Prediction |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** The largest payload in the history of a run, in bytes. */
async function largestPayload(id: string): Promise<number> {
  const { events } = await engine.workflow.getHandle(id).fetchHistory();
  expect(events?.length).toBeGreaterThan(10);
  let largest = 0;
  const look = (value: unknown): void => {
    if (value instanceof Uint8Array) largest = Math.max(largest, value.length);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  look(events);
  return largest;
}

/** A report of about so many bytes that cites its first passage again and again. */
function longReport(size: number): string {
  const paragraph = `${CLAIM} 潮汐は月の引力で起こる。\n\n`;
  return `## Causes\n\n${paragraph.repeat(Math.ceil(size / bytes(paragraph)))}`;
}

describe('P99 large texts', () => {
  test('10 rounds x 10 KiB + a plan of 64 KiB + a report of 3 MB: approve works, the report is whole, no payload is large', async () => {
    const query = 'Ten rounds and a long report';
    const message = (round: number) =>
      `${String(round).padStart(2, '0')}: ${'潮'.repeat(3_400)}${'x'.repeat(36)}`;
    const planOf = (round: number) => `Plan ${round}\n\n${'計画を詳しく述べる。'.repeat(1_000)}`;
    product.model.on(query, ({ kind, prompt }) => {
      const round = /Round (\d+) of/.exec(prompt)?.[1];
      if (kind === 'plan') return ready(planOf(Number(round)));
      return kind === 'write' ? text(longReport(3_000_000)) : undefined;
    });
    const id = await product.submit(query, { require_review: true }, { research_strategy: 'academic' });
    await product.review(id);
    const reader = readStream(product.stack.gatewayUrl, id);
    for (let round = 1; round <= 10; round += 1) {
      expect(bytes(message(round))).toBe(10_240);
      const { status, json } = await product.feedback(id, message(round), String(round));
      expect([status, json.version]).toEqual([200, round + 1]);
    }
    const plan = `${'The plan, by a person. '.repeat(2_849)}end`;
    const edited = `${plan}${'.'.repeat(65_536 - bytes(plan))}`;
    expect((await product.act(id, { action: 'edit', plan: `${edited}.` })).json).toMatchObject({
      error: 'plan exceeds maximum length (64KB)',
      limit: 65_536,
      length: 65_537,
    });
    expect((await product.act(id, { action: 'edit', plan: edited })).json.plan_sha256).toBe(sha256(edited));
    expect((await product.approve(id, '12')).status).toBe(200);

    expect(await reader.ended).toBe('end');
    const task = await product.ended(id);
    expect([task.status, task.error]).toEqual(['TASK_STATUS_COMPLETED', undefined]);
    expect(bytes(task.result)).toBeGreaterThan(3_000_000);
    expect(task.metadata['plan_sha256']).toBe(sha256(edited));
    expect(task.context['confirmed_plan']).toBe(edited);
    expect(task.context['review_conversation']).toHaveLength(21);

    const events = await product.events(id);
    expect(reader.frames().map(({ id }) => id)).toEqual(events.map(({ stream_id }) => stream_id));
    for (const { data } of reader.frames()) expect(bytes(data)).toBeLessThanOrEqual(EVENT_BYTES);
    const byType = (type: string) => events.find((event) => event.type === type);
    expect(byType('LLM_OUTPUT')?.payload).toMatchObject({ truncated: true });
    expect(task.result.startsWith(byType('LLM_OUTPUT')?.message ?? '?')).toBe(true);
    expect(byType('RESEARCH_PLAN_EDITED')?.payload).toMatchObject({ truncated: true, version: 12 });
    expect(edited.startsWith(byType('RESEARCH_PLAN_EDITED')?.message ?? '?')).toBe(true);
    expect(byType('REVIEW_USER_FEEDBACK')?.message).toBe(message(1));

    const { versions } = (await product.ask(taskPath(id, '/review/versions'))).json;
    const { changes } = (await product.ask(taskPath(id, '/review/diff?from=11&to=12'))).json;
    const side = (op: string) =>
      changes.flatMap((change: { op: string; text: string }) =>
        change.op === 'equal' || change.op === op ? [change.text] : [],
      );
    expect(side('insert').join('')).toBe(edited);
    expect(side('delete').join('')).toBe(versions.at(-2).text);

    const largest = await largestPayload(id);
    expect(largest).toBeLessThan(PAYLOAD_BYTES);
  }, 180_000);

  test('many large passages reach the report without passing through the engine', async () => {
    const query = 'Many passages';
    const questions = Array.from({ length: 10 }, (_, n) => ({
      text: `What do the tides of harbour ${n} depend on?`,
      terms: ['tides', 'gravity', 'harmonic', `harbour`],
    }));
    product.model.on(query, ({ kind }) =>
      kind === 'decompose' ? text(JSON.stringify({ questions })) : undefined,
    );
    const id = await product.submit(query, { force_research: true }, { research_strategy: 'academic' });
    expect(await readStream(product.stack.gatewayUrl, id).ended).toBe('end');
    expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
    const [call] = product.model.calls(query, 'write');
    expect(bytes(call?.prompt ?? '')).toBeGreaterThan(2 * PAYLOAD_BYTES);
    const largest = await largestPayload(id);
    expect(largest).toBeLessThan(PAYLOAD_BYTES);
  }, 120_000);
});

describe('P32 more than is taken', () => {
  test('5 MB of model text as the first plan: the task fails with its documented error, and its stream ends', async () => {
    const query = 'A plan of 5 MB';
    product.model.on(query, () => ready('p'.repeat(5 * MIB)));
    const id = await product.submit(query, { require_review: true });
    const reader = readStream(product.stack.gatewayUrl, id);
    expect(await reader.ended).toBe('end');
    expect(await product.ended(id)).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      error: 'failed to generate research plan',
    });
    expect(reader.names().slice(-3)).toEqual(['ERROR_OCCURRED', 'WORKFLOW_FAILED', 'done']);
  }, 120_000);

  test('5 MB of model text in answer to a feedback: 502, and nothing has changed', async () => {
    const query = 'A revision of 5 MB';
    product.model.on(query, ({ kind, prompt }) =>
      kind === 'plan' && !prompt.includes('Round 0 of') ? ready('p'.repeat(5 * MIB)) : undefined,
    );
    const id = await product.submit(query, { require_review: true });
    const before = await product.review(id);
    const { status, json } = await product.feedback(id, 'More', '1');
    expect([status, json.error]).toEqual([502, 'Failed to generate updated plan']);
    expect(await product.review(id)).toEqual(before);
    expect(before.current_plan).toBe(PLAN);
    await product.control(id, 'cancel');
  }, 120_000);

  test('5 MB of model text as the report: the task fails and says so', async () => {
    const query = 'A report of 5 MB';
    product.model.on(query, ({ kind }) => (kind === 'write' ? text('r'.repeat(5 * MIB)) : undefined));
    const id = await product.submit(query, { force_research: true });
    expect(await readStream(product.stack.gatewayUrl, id).ended).toBe('end');
    expect(await product.ended(id)).toMatchObject({
      status: 'TASK_STATUS_FAILED',
      result: '',
      error: 'the model failed to write the report',
    });
  }, 120_000);
});
