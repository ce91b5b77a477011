import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp, startTemporal, type TemporalServer } from '@plangate/devstack';
import { Connection, Client as EngineClient } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectClient, taskPath } from './support/client.ts';
import { type Product, startProduct } from './support/product.ts';
import {
  expectInTime,
  expectResearchedOnce,
  expectToldOnce,
  followStream,
  timed,
} from './support/resilience.ts';
import { until } from './support/until.ts';

const STARTED = { status: 'approved', message: 'Research started' };
const RECORDED = {
  status: 'approved',
  message: 'Approval recorded; research starts when the task engine is back',
};
/** The sweep comes every 10 s; connections find Temporal again within a few more. */
const DELIVERED_MS = 40_000;
const TIMEOUT = { timeout: 120_000 };
/** Lost runs are asked for after 4 s instead of 60 s; decisions are swept every 10 s as always. */
const SETTINGS = `
sweep:
  patience_seconds: 4
`;

let folder: string;
let temporal: TemporalServer;
let product: Product;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plangate-temporal-'));
  temporal = await startTemporal({ dbFile: join(folder, 'temporal.db') });
  product = await startProduct({
    stack: { temporalAddress: temporal.address },
    settings: SETTINGS,
  });
});
afterAll(async () => {
  await product?.stop();
  await temporal?.stop();
  await rm(folder, { recursive: true });
});

async function openReview(query: string, context: Record<string, unknown> = {}): Promise<string> {
  const id = await product.submit(query, { require_review: true, ...context });
  await product.review(id);
  return id;
}

describe('while Temporal is away', () => {
  test(
    'P09 approve, reject and cancel are recorded in time, and delivered by themselves when it is back',
    TIMEOUT,
    async () => {
      const [approved, rejected, cancelled] = (await Promise.all(
        ['Approve', 'Reject', 'Cancel'].map((name) => openReview(`${name} while Temporal is away`)),
      )) as [string, string, string];
      const tag = `"${(await product.review(approved)).version}"`;
      await temporal.kill();

      const first = await timed(() => product.approve(approved, tag));
      expect([first.answer.status, first.answer.json]).toEqual([200, RECORDED]);
      expect(first.answer.headers.get('etag')).toBe('"2"');
      const again = await timed(() => product.approve(approved, tag));
      expect([again.answer.status, again.answer.json]).toEqual([200, RECORDED]);
      const reject = await timed(() => product.act(rejected, { action: 'reject', reason: 'too broad' }));
      expect([reject.answer.status, reject.answer.json.status]).toEqual([200, 'rejected']);
      const cancel = await timed(() => product.control(cancelled, 'cancel', 'not needed'));
      expect(cancel.answer.status).toBe(202);
      for (const answer of [first, again, reject, cancel]) expectInTime(answer);
      // What is recorded is what everybody sees; nothing runs before the workflow has it.
      expect((await product.review(approved)).status).toBe('approved');
      expect((await product.approve(cancelled)).json.error).toBe('Review is closed: cancelled');
      expect(await product.types(approved)).not.toContain('RESEARCH_PLAN_APPROVED');

      await temporal.restart();
      const back = performance.now();
      await until(
        async () => (await product.types(approved)).includes('RESEARCH_PLAN_APPROVED'),
        DELIVERED_MS,
      );
      const delivered = performance.now() - back;
      await expectResearchedOnce(product, approved);
      const ends = await Promise.all([product.ended(rejected), product.ended(cancelled)]);
      expect(ends.map(({ status, error }) => [status, error])).toEqual([
        ['TASK_STATUS_CANCELLED', 'research plan rejected: too broad'],
        ['TASK_STATUS_CANCELLED', 'task cancelled: not needed'],
      ]);
      expectToldOnce(await product.events(rejected), 'WORKFLOW_CANCELLED');
      expectToldOnce(await product.events(cancelled), 'WORKFLOW_CANCELLED');
      report({ approve: first.ms, again: again.ms, reject: reject.ms, cancel: cancel.ms, delivered });
    },
  );

  test(
    'an approval outlives its gateway: the next one delivers it as soon as it starts',
    TIMEOUT,
    async () => {
      const id = await openReview('Gateway killed between commit and signal');
      await temporal.kill();
      expect((await product.approve(id)).json).toEqual(RECORDED);
      await product.stack.apps.gateway.kill();
      await temporal.restart();

      // Its sweep walks once, at the start, and then not for an hour.
      const settings = await readFile(product.stack.env['PLANGATE_CONFIG'] ?? '', 'utf8');
      const settingsFile = join(folder, 'rare-sweep.yaml');
      await writeFile(settingsFile, settings.replace('sweep:', 'sweep:\n  interval_seconds: 3600'));
      const { GATEWAY_PORT: _, ...env } = product.stack.env;
      const next = await startApp('gateway', { env: { ...env, PLANGATE_CONFIG: settingsFile } });
      try {
        const client = connectClient(next.url ?? '');
        const back = performance.now();
        await client.published(id, 'RESEARCH_PLAN_APPROVED');
        report({ 'delivered by a new gateway': performance.now() - back });
        await expectResearchedOnce(client, id);
      } finally {
        await next.stop();
        await product.stack.apps.gateway.restart();
      }
    },
  );

  test(
    'an approval without an answer because Temporal hangs is in time too, and runs once',
    TIMEOUT,
    async () => {
      const id = await openReview('Temporal hangs at the approval');
      process.kill(temporal.pid, 'SIGSTOP');
      try {
        const timely = await timed(() => product.approve(id));
        const { answer, ms } = timely;
        expect([answer.status, answer.json]).toEqual([200, RECORDED]);
        expectInTime(timely);
        report({ 'approve while Temporal hangs': ms });
      } finally {
        process.kill(temporal.pid, 'SIGCONT');
      }
      await expectResearchedOnce(product, id);
    },
  );
});

describe('a signal that is lost', () => {
  test(
    'with a Temporal killed right after the approval is sent again, and the research runs once',
    TIMEOUT,
    async () => {
      const id = await openReview('Temporal killed right after the approval');
      expect((await product.approve(id)).json).toEqual(STARTED);
      await temporal.kill();
      await temporal.restart();
      await until(async () => (await product.types(id)).includes('RESEARCH_PLAN_APPROVED'), DELIVERED_MS);
      await expectResearchedOnce(product, id);
    },
  );

  test('because Temporal came back with older data is sent again', TIMEOUT, async () => {
    const id = await openReview('Temporal restored from a copy');
    await product.stack.apps.orchestrator.kill();
    await temporal.kill();
    await cp(folder, `${folder}-copy`, { recursive: true });
    await temporal.restart();
    await until(async () => (await product.ask('/readiness')).status === 200);
    expect((await product.approve(id)).json).toEqual(STARTED);

    await temporal.kill();
    await cp(`${folder}-copy`, folder, { recursive: true, force: true });
    await rm(`${folder}-copy`, { recursive: true });
    await temporal.restart();
    await product.stack.apps.orchestrator.restart();
    await until(async () => (await product.types(id)).includes('RESEARCH_PLAN_APPROVED'), DELIVERED_MS);
    await expectResearchedOnce(product, id);
  });
});

describe('a deadline that passes while the orchestrator is away', () => {
  test('loses against an approval recorded before it, and else times the review out', TIMEOUT, async () => {
    const [approved, forgotten] = (await Promise.all(
      ['Approved in time', 'Forgotten'].map((query) => openReview(query, { review_timeout: 15 })),
    )) as [string, string];
    await product.stack.apps.orchestrator.kill();
    expect((await product.approve(approved)).status).toBe(200);
    const deadlines = await Promise.all(
      [approved, forgotten].map(async (id) => Date.parse((await product.review(id)).expires_at)),
    );
    await until(() => Date.now() > Math.max(...deadlines) + 500);
    expect((await product.review(forgotten)).status).toBe('reviewing');
    await product.stack.apps.orchestrator.restart();

    await expectResearchedOnce(product, approved);
    const task = await product.ended(forgotten);
    expect([task.status, task.result, task.error]).toEqual([
      'TASK_STATUS_COMPLETED',
      '',
      'research plan review timed out',
    ]);
    const types = await product.types(forgotten);
    expect(types.slice(-4)).toEqual([
      'ERROR_OCCURRED',
      'REVIEW_TIMED_OUT',
      'WORKFLOW_COMPLETED',
      'STREAM_END',
    ]);
    expect((await product.approve(forgotten)).json.error).toBe('Review is closed: timed_out');
  });
});

describe('a workflow that the engine terminated', () => {
  test('takes an approval back with 409, and the sweep gives its task a truthful end', TIMEOUT, async () => {
    const id = await openReview('Terminated');
    const follower = followStream(product.stack.gatewayUrl, id);
    await until(() => follower.events().length > 0);
    const connection = await Connection.connect({ address: temporal.address });
    await new EngineClient({ connection }).workflow.getHandle(id).terminate();
    await connection.close();

    const refused = await product.approve(id);
    expect([refused.status, refused.json.error]).toEqual([409, 'Review is closed: cancelled']);
    expect((await product.review(id)).status).toBe('cancelled');
    expect((await product.approve(id)).json.error).toBe('Review is closed: cancelled');

    const task = await product.ended(id);
    expect([task.status, task.result]).toEqual(['TASK_STATUS_FAILED', '']);
    expect(task.error).not.toBe('');
    const events = await product.events(id);
    expectToldOnce(events, 'WORKFLOW_FAILED');
    expect(events.map(({ type }) => type)).not.toContain('RESEARCH_PLAN_APPROVED');
    await follower.done;
  });
});

describe('an approval whose answer is lost', () => {
  test.each([0, 1, 3, 8])(
    'because Redis died %i ms after the request: the same request again gives the true one, and it runs once',
    TIMEOUT,
    async (delay) => {
      const id = await openReview(`Redis killed ${delay} ms into an approval`);
      const { version } = await product.review(id);
      const asked = product.approve(id, `"${version}"`);
      await new Promise((resolve) => setTimeout(resolve, delay));
      await product.stack.redis.kill();
      const { status, json } = await asked;
      expect([200, 503]).toContain(status);
      if (status === 503) expect(json.error).toBe('Review store unavailable');

      await product.stack.redis.restart();
      await until(async () => (await product.ask(taskPath(id, '/review'))).status === 200);
      const again = await product.approve(id, `"${version}"`);
      expect([again.status, again.json]).toEqual([200, STARTED]);
      await expectResearchedOnce(product, id);
    },
  );

  test('because its client went away: it stands, and asking again runs nothing twice', TIMEOUT, async () => {
    const id = await openReview('Client gone in the approval');
    await fetch(`${product.stack.gatewayUrl}${taskPath(id, '/review')}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'If-Match': '"1"' },
      body: JSON.stringify({ action: 'approve' }),
      signal: AbortSignal.timeout(2),
    }).catch(() => undefined);
    const again = await product.approve(id, '"1"');
    expect([again.status, again.json]).toEqual([200, STARTED]);
    await expectResearchedOnce(product, id);
  });
});

/** Times in milliseconds, for the log of the run. */
function report(times: Record<string, number>): void {
  const rounded = Object.entries(times).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
  process.stdout.write(`${rounded.join(', ')}\n`);
}
