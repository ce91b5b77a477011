import { type RedisServer, startRedis, startTemporal, type TemporalServer } from '@plangate/devstack';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asking, taskPath } from './support/client.ts';
import { REVISED } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import {
  expectAway,
  expectInTime,
  expectResearchedOnce,
  expectToldOnce,
  followStream,
  QUICK_SWEEP,
  type Timed,
  timed,
} from './support/resilience.ts';
import { until } from './support/until.ts';

const TIMEOUT = { timeout: 120_000 };
const STORE_AWAY = 'Review store unavailable';
const ENGINE_AWAY = 'Task engine unavailable';
/** Longer than all tries of a step of the research would take, if outages counted as failures. */
const LONG_OUTAGE_MS = 20_000;

let redis: RedisServer;
let temporal: TemporalServer;
let product: Product;
beforeAll(async () => {
  [redis, temporal] = await Promise.all([startRedis(), startTemporal()]);
  product = await startProduct({
    stack: { redisUrl: redis.url, temporalAddress: temporal.address },
    settings: QUICK_SWEEP,
    modelSeconds: 40,
  });
});
afterAll(async () => {
  await product?.stop();
  await Promise.all([redis?.stop(), temporal?.stop()]);
});

async function openReview(query: string): Promise<string> {
  const id = await product.submit(query, { require_review: true });
  await product.review(id);
  return id;
}

/** Holds one kind of call of the model back, until it is let go. */
function hold(query: string, held: 'plan' | 'write'): () => void {
  let letGo = (): void => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  product.model.on(query, async ({ kind }) => {
    if (kind === held) await released;
    return undefined;
  });
  return letGo;
}

/** An approved task whose research waits in its last call of the model. */
async function researchInWriting(query: string): Promise<{ id: string; letGo: () => void }> {
  const letGo = hold(query, 'write');
  const id = await openReview(query);
  await product.approve(id);
  await until(() => product.model.calls(query, 'write').length === 1);
  return { id, letGo };
}

/** The pids of the apps: what recovers does so without a restart. */
function appPids(): number[] {
  const { gateway, orchestrator, llmService } = product.stack.apps;
  return [gateway, orchestrator, llmService].map(({ pid }) => pid);
}

function isReady(): Promise<boolean> {
  return product.ask('/readiness').then(({ status }) => status === 200);
}

/** The slowest of some answers, for the log of the run. */
function report(name: string, answers: Timed[]): void {
  process.stdout.write(`${name}: slowest ${Math.max(...answers.map(({ ms }) => ms))} ms\n`);
}

describe('Redis', () => {
  /** Every route that reads or writes Redis, for a task that exists. */
  function routes(id: string): [path: string, asking: Asking][] {
    const post = (body: unknown): Asking => ({ method: 'POST', body });
    return [
      ['/api/v1/tasks', {}],
      ['/api/v1/tasks', post({ query: 'Submitted while Redis is away' })],
      ['/api/v1/tasks/stream', post({ query: 'Submitted while Redis is away' })],
      ...['', '/events', '/timeline', '/stream', '/control-state', '/review', '/review/versions'].map(
        (suffix): [string, Asking] => [taskPath(id, suffix), {}],
      ),
      [taskPath(id, '/review/diff?from=1&to=1'), {}],
      [`/api/v1/stream/sse?workflow_id=${id}`, {}],
      ...['/cancel', '/pause', '/resume'].map((suffix): [string, Asking] => [taskPath(id, suffix), post({})]),
      ...[
        { action: 'feedback', message: 'More' },
        { action: 'approve' },
        { action: 'edit', plan: 'Mine' },
        { action: 'reject' },
        { action: 'extend', seconds: 60 },
      ].map((body): [string, Asking] => [taskPath(id, '/review'), post(body)]),
    ];
  }

  async function expectAllAway(id: string): Promise<Timed[]> {
    const answers = await Promise.all(
      [...routes(id), ...routes('task-01ARZ3NDEKTSV4RRFFQ69G5FAV')].map(async ([path, asking]) => ({
        path,
        ...(await timed(() => product.ask(path, asking))),
      })),
    );
    for (const { path, ...answer } of answers) {
      expect([path, answer.answer.status]).toEqual([path, 503]);
      expectAway(answer, STORE_AWAY);
    }
    return answers;
  }

  test(
    'away: every route is 503 in time; a long outage costs research, review and readers nothing',
    TIMEOUT,
    async () => {
      const id = await openReview('Redis away in a review');
      const before = await product.review(id);
      const { id: writing, letGo } = await researchInWriting('Redis away in the research');
      const follower = followStream(product.stack.gatewayUrl, id);
      await until(() => follower.events().length > 0);
      const pids = appPids();

      await redis.kill();
      const away = performance.now();
      letGo();
      report('Redis killed', await expectAllAway(id));
      const readiness = await timed(() => product.ask('/readiness'));
      expect(readiness.answer.status).toBe(503);
      expectInTime(readiness);
      expect((await product.ask('/health')).status).toBe(200);
      await until(() => performance.now() - away > LONG_OUTAGE_MS, LONG_OUTAGE_MS + 1_000);
      await redis.restart();

      await until(isReady);
      expect(await product.review(id)).toEqual(before);
      expect((await product.approve(id, '"1"')).status).toBe(200);
      await expectResearchedOnce(product, id);
      await expectResearchedOnce(product, writing);
      await follower.done;
      const ids = (await product.events(id)).map(({ stream_id }) => stream_id);
      expect(follower.frames.map((frame) => frame.id)).toEqual(ids);
      expect(appPids()).toEqual(pids);
    },
  );

  test(
    'without an answer: 503 in time as well, and nothing of what was asked is half done after',
    TIMEOUT,
    async () => {
      const id = await openReview('Redis hangs in a review');
      const before = await product.review(id);
      process.kill(redis.pid, 'SIGSTOP');
      try {
        report('Redis without an answer', await expectAllAway(id));
        expect((await product.ask('/readiness')).status).toBe(503);
      } finally {
        process.kill(redis.pid, 'SIGCONT');
      }

      await until(isReady);
      expect(await product.review(id)).toEqual(before);
      // A submit that was told 503 may have been recorded; then it is settled, it does not stay queued.
      const query = 'Submitted while Redis is away';
      await until(async () => {
        const { tasks } = (await product.ask('/api/v1/tasks?limit=100')).json;
        const left = tasks.filter((task: { query: string }) => task.query === query);
        return left.every(({ status }: { status: string }) => status === 'TASK_STATUS_FAILED');
      });
      expect((await product.control(id, 'cancel')).status).toBe(202);
      await product.ended(id);
      expectToldOnce(await product.events(id), 'WORKFLOW_CANCELLED');
    },
  );
});

describe('Temporal', () => {
  const total = async (): Promise<number> => (await product.ask('/api/v1/tasks')).json.total_count;

  test(
    'away: submit, pause, resume and a plain cancel are 503, all else goes on, and it recovers',
    TIMEOUT,
    async () => {
      const plainQuery = 'Temporal away in the first plan';
      const letGo = hold(plainQuery, 'plan');
      const plain = await product.submit(plainQuery, { force_research: true });
      await until(() => product.model.calls(plainQuery, 'plan').length === 1);
      const paused = await openReview('Temporal away while paused');
      await product.control(paused, 'pause');
      await product.published(paused, 'WORKFLOW_PAUSED');
      const id = await openReview('Temporal away in a review');
      const follower = followStream(product.stack.gatewayUrl, id);
      const before = await total();
      const pids = appPids();

      await temporal.kill();
      const refused = [
        await timed(() => product.post('/api/v1/tasks', { query: 'Submitted while Temporal is away' })),
        await timed(() =>
          product.post('/api/v1/tasks/stream', { query: 'Submitted while Temporal is away' }),
        ),
        await timed(() => product.control(plain, 'pause')),
        await timed(() => product.control(plain, 'cancel')),
        await timed(() => product.control(paused, 'resume')),
      ];
      for (const answer of refused) expectAway(answer, ENGINE_AWAY);
      report('Temporal killed', refused);
      // A start that certainly failed leaves nothing behind.
      expect(await total()).toBe(before);

      expect((await product.task(id)).status).toBe('TASK_STATUS_RUNNING');
      expect((await product.ask(taskPath(paused, '/control-state'))).json.is_paused).toBe(true);
      const revised = await product.feedback(id, 'Only open source');
      expect([revised.status, revised.json.current_plan]).toEqual([200, REVISED]);
      expect((await product.act(id, { action: 'edit', plan: 'Mine' })).status).toBe(200);
      expect((await product.act(id, { action: 'extend', seconds: 60 })).status).toBe(200);
      await until(() => follower.events().some(({ type }) => type === 'REVIEW_EXTENDED'));
      expect((await timed(() => product.ask('/readiness'))).answer.status).toBe(503);

      letGo();
      await temporal.restart();
      await until(isReady);
      expect((await product.ended(await product.submit('Submitted after Temporal came back'))).status).toBe(
        'TASK_STATUS_COMPLETED',
      );
      expect((await product.control(paused, 'resume')).status).toBe(202);
      await product.published(paused, 'WORKFLOW_RESUMED');
      await product.approve(paused);
      await product.approve(id);
      await Promise.all([expectResearchedOnce(product, paused), expectResearchedOnce(product, id)]);
      expect((await product.ended(plain)).status).toBe('TASK_STATUS_COMPLETED');
      await follower.done;
      expect(appPids()).toEqual(pids);
    },
  );

  test.each(['goes on', 'is killed and comes back'])(
    'without an answer to a start, and then it %s: the task runs, or it has failed, but it does not stay queued',
    TIMEOUT,
    async (what) => {
      const query = `A start whose outcome nobody knows: Temporal ${what}`;
      // A connection that is there: only then can a start be under way without an answer.
      await product.ended(await product.submit('Before Temporal hangs'));
      process.kill(temporal.pid, 'SIGSTOP');
      try {
        const submitted = await timed(() => product.post('/api/v1/tasks', { query }));
        expectAway(submitted, ENGINE_AWAY);
        report('Temporal without an answer', [submitted]);
        if (what !== 'goes on') await temporal.kill();
      } finally {
        if (what === 'goes on') process.kill(temporal.pid, 'SIGCONT');
        else await temporal.restart();
      }
      const { tasks } = (await product.ask('/api/v1/tasks?limit=100')).json;
      const [{ task_id: id }] = tasks.filter((task: { query: string }) => task.query === query);
      const task = await product.ended(id);
      if (task.status === 'TASK_STATUS_FAILED') {
        expect(task.error).toBe('task could not be started');
        expect(await product.types(id)).toEqual(['ERROR_OCCURRED', 'WORKFLOW_FAILED', 'STREAM_END']);
      } else {
        expect(task.status).toBe('TASK_STATUS_COMPLETED');
        expectToldOnce(await product.events(id), 'WORKFLOW_COMPLETED');
      }
    },
  );
});

describe('Orchestrator', () => {
  test(
    'away: submits are taken and queued, everything answers, and takes effect when it is back',
    TIMEOUT,
    async () => {
      const [toApprove, toCancel, toReject] = (await Promise.all(
        ['approve', 'cancel', 'reject'].map((what) => openReview(`To ${what} without an orchestrator`)),
      )) as [string, string, string];
      const toPause = await openReview('To pause without an orchestrator');
      await product.stack.apps.orchestrator.kill();

      const queued = await product.submit('Queued without an orchestrator', { require_review: true });
      const unwanted = await product.submit('Cancelled before it began', { require_review: true });
      expect((await product.task(queued)).status).toBe('TASK_STATUS_QUEUED');
      expect((await product.ask(taskPath(queued, '/review?wait=0'))).status).toBe(404);
      expect((await product.ask(taskPath(queued, '/control-state'))).status).toBe(200);
      expect((await product.feedback(toApprove, 'Only open source')).status).toBe(200);
      expect((await product.approve(toApprove)).json.message).toBe('Research started');
      expect((await product.act(toReject, { action: 'reject' })).status).toBe(200);
      expect((await product.control(toPause, 'pause')).status).toBe(202);
      expect((await product.approve(toPause)).status).toBe(200);
      for (const id of [toCancel, unwanted]) expect((await product.control(id, 'cancel')).status).toBe(202);
      await product.stack.apps.orchestrator.restart();

      await expectResearchedOnce(product, toApprove);
      await product.review(queued);
      await product.approve(queued);
      await expectResearchedOnce(product, queued);
      for (const id of [toCancel, toReject, unwanted]) {
        expect((await product.ended(id)).status).toBe('TASK_STATUS_CANCELLED');
        expectToldOnce(await product.events(id), 'WORKFLOW_CANCELLED');
      }
      expect(await product.types(unwanted)).not.toContain('RESEARCH_PLAN_READY');
      await product.published(toPause, 'WORKFLOW_PAUSED');
      await product.published(toPause, 'RESEARCH_PLAN_APPROVED');
      expect((await product.task(toPause)).status).toBe('TASK_STATUS_PAUSED');
      expect(await product.types(toPause)).not.toContain('DELEGATION');
      await product.control(toPause, 'resume');
      await expectResearchedOnce(product, toPause);
    },
  );
});

describe('LLM service', () => {
  test(
    'away: feedback is 502, everything else answers; a first plan and research wait for it',
    TIMEOUT,
    async () => {
      const id = await openReview('llm-service away in a review');
      const before = await product.review(id);
      const { id: writing } = await researchInWriting('llm-service away in the research');
      const pids = appPids().slice(0, 2);
      await product.stack.apps.llmService.kill();
      const away = performance.now();

      const refused = await timed(() => product.feedback(id, 'Only open source'));
      expect([refused.answer.status, refused.answer.json.error]).toEqual([
        502,
        'Failed to generate updated plan',
      ]);
      expectInTime(refused);
      expect(await product.review(id)).toEqual(before);
      const planless = await product.submit('Submitted while llm-service is away', { require_review: true });
      await product.published(planless, 'WORKFLOW_STARTED');
      expect((await product.act(id, { action: 'edit', plan: 'Explain what causes tides.' })).status).toBe(
        200,
      );
      expect((await product.approve(id)).status).toBe(200);
      await until(() => performance.now() - away > LONG_OUTAGE_MS, LONG_OUTAGE_MS + 1_000);
      expect((await product.task(planless)).status).toBe('TASK_STATUS_RUNNING');

      product.model.on('llm-service away in the research', () => undefined);
      await product.stack.apps.llmService.restart();
      await product.review(planless);
      await product.approve(planless);
      for (const task of [id, writing, planless]) await expectResearchedOnce(product, task);
      expect(appPids().slice(0, 2)).toEqual(pids);
    },
  );
});
