import { startTemporal, type TemporalServer } from '@plangate/devstack';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { openStream } from './raw-stream.ts';
import { openReview, type Rig, startRig, until } from './rig.ts';

const path = (id: string, suffix = '') => `/api/v1/tasks/${id}${suffix}`;

describe('Temporal', () => {
  let rig: Rig;
  let server: TemporalServer;
  let temporal: TemporalEyes;
  beforeAll(async () => {
    server = await startTemporal();
    temporal = await watchTemporal(server.address);
    rig = await startRig({ temporalAddress: server.address, options: { sweepIntervalMs: 200 } });
  });
  afterAll(async () => {
    await rig?.stop();
    await temporal?.close();
    await server?.stop();
  });

  const submit = (context: Record<string, unknown> = {}) =>
    rig.post('/api/v1/tasks', { query: 'What is known?', context });
  const total = async () => (await rig.ask('/api/v1/tasks')).json.total_count;

  test('a submit whose outcome nobody knows is 503 in time, and its record stays queued for the sweep', async () => {
    // A connection that is there: only then can a start be under way without an answer.
    expect((await submit()).status).toBe(200);
    const before = await total();
    process.kill(server.pid, 'SIGSTOP');
    try {
      const began = performance.now();
      const answer = await submit();
      expect([answer.status, answer.json]).toEqual([
        503,
        { error: 'Task engine unavailable', code: 'engine_unavailable' },
      ]);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      expect(performance.now() - began).toBeLessThan(4_000);
      expect(await total()).toBe(before + 1);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  test('an approval while Temporal does not answer is recorded within the 2 s, and delivered when it is back', async () => {
    const id = (await submit({ require_review: true })).json.task_id;
    await openReview(rig.reviews, id);
    process.kill(server.pid, 'SIGSTOP');
    try {
      const began = performance.now();
      const answer = await rig.post(path(id, '/review'), { action: 'approve' });
      expect([answer.status, answer.json.message]).toEqual([
        200,
        'Approval recorded; research starts when the task engine is back',
      ]);
      expect(performance.now() - began).toBeLessThan(4_000);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await until(async () => (await temporal.signals(id)).length > 0);
  });

  test('while it is away submit, pause and a plain cancel are 503, a review goes on, and all recovers by itself', async () => {
    const plain = (await submit({ force_research: true })).json.task_id;
    const reviewed = (await submit({ require_review: true })).json.task_id;
    await openReview(rig.reviews, reviewed);
    await server.kill();
    const before = await total();

    for (const answer of [
      await submit(),
      await rig.post('/api/v1/tasks/stream', { query: 'x' }),
      await rig.post(path(plain, '/pause'), {}),
      await rig.post(path(plain, '/cancel'), {}),
    ]) {
      expect([answer.status, answer.json.error]).toEqual([503, 'Task engine unavailable']);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    // A start that was certainly refused leaves nothing behind.
    expect(await total()).toBe(before);

    const act = (body: unknown) => rig.post(path(reviewed, '/review'), body);
    expect((await act({ action: 'feedback', message: 'More' })).status).toBe(200);
    expect((await act({ action: 'edit', plan: 'Mine' })).status).toBe(200);
    expect((await act({ action: 'extend', seconds: 60 })).status).toBe(200);
    expect((await rig.ask(path(reviewed, '/review'))).status).toBe(200);
    expect((await rig.ask(path(reviewed, '/control-state'))).status).toBe(200);
    expect((await rig.ask(`/api/v1/stream/sse?workflow_id=${reviewed}`, { method: 'HEAD' })).status).toBe(
      200,
    );
    expect((await rig.post(path(reviewed, '/cancel'), { reason: 'stop' })).status).toBe(202);
    expect((await rig.ask('/readiness')).json.checks.temporal).toBe('unavailable');

    await server.restart();
    await until(async () => (await submit()).status === 200, 20_000);
    expect((await rig.ask('/readiness')).status).toBe(200);
    // The run itself is as durable as the engine's own store.
    const known = await temporal.started(reviewed);
    if (known)
      await until(async () => (await temporal.signals(reviewed)).some(({ name }) => name === 'cancel'));
  }, 60_000);
});

describe('Redis', () => {
  test('every route is 503 in time while Redis is away, streams stay open, and all recovers by itself', async () => {
    const rig = await startRig();
    try {
      const id = await rig.review();
      const { task_id: unplanned } = await rig.task();
      const stream = openStream(rig.port, `/api/v1/stream/sse?workflow_id=${id}`, { key: rig.keys.alice });
      await stream.has('RESEARCH_PLAN_READY');
      const waiting = rig.ask(path(unplanned, '/review'));
      await until(async () => (await rig.redis.pubsub('CHANNELS', `*${unplanned}*`)).length > 0);

      await rig.redisServer.kill();
      expect((await waiting).status).toBe(503);
      const asks: [string, string, unknown?][] = [
        ['GET', path(id)],
        ['GET', path(id, '/review')],
        ['GET', path(id, '/review/versions')],
        ['GET', path(id, '/events')],
        ['GET', path(id, '/control-state')],
        ['GET', '/api/v1/tasks'],
        ['GET', `/api/v1/stream/sse?workflow_id=${id}`],
        ['POST', '/api/v1/tasks', { query: 'x' }],
        ['POST', path(id, '/cancel'), {}],
        ['POST', path(id, '/review'), { action: 'approve' }],
        ['POST', path(id, '/review'), { action: 'feedback', message: 'x' }],
      ];
      for (const [method, target, body] of asks) {
        const began = performance.now();
        const answer = await rig.ask(target, { method, body });
        expect([target, answer.status, answer.json]).toEqual([
          target,
          503,
          { error: 'Review store unavailable', code: 'store_unavailable' },
        ]);
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
        expect(performance.now() - began).toBeLessThan(2_500);
      }
      expect((await rig.ask('/health', { key: null })).status).toBe(200);
      expect((await rig.ask('/readiness', { key: null })).json.checks.redis).not.toBe('ok');

      await rig.redisServer.restart();
      await until(async () => (await rig.ask(path(id, '/review'))).status === 200);
      await until(() => rig.redis.status === 'ready');
      const feedback = await rig.post(path(id, '/review'), { action: 'feedback', message: 'Back again' });
      expect(feedback.status).toBe(200);
      await stream.has('Back again');
      stream.close();
    } finally {
      await rig.stop();
    }
  }, 60_000);

  test.each([true, false])(
    'a Redis that does not answer is 503 within about 2 s (auth off: %s)',
    async (skip_auth) => {
      const rig = await startRig({ settings: { gateway: { skip_auth } } });
      const id = await rig.review();
      process.kill(rig.redisServer.pid, 'SIGSTOP');
      try {
        const began = performance.now();
        const answers = await Promise.all([
          rig.ask(path(id)),
          rig.ask(path(id, '/review')),
          rig.ask(path(id, '/events')),
          rig.ask('/api/v1/tasks'),
          rig.post(path(id, '/review'), { action: 'approve' }),
          rig.post(path(id, '/review'), { action: 'feedback', message: 'x' }),
          rig.post('/api/v1/tasks', { query: 'x' }),
          rig.ask(`/api/v1/stream/sse?workflow_id=${id}`),
        ]);
        expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(503));
        expect(performance.now() - began).toBeLessThan(3_500);
      } finally {
        process.kill(rig.redisServer.pid, 'SIGCONT');
        await rig.stop();
      }
    },
  );
});
