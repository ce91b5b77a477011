import { redisForFile } from '@plangate/devstack/vitest-redis';
import { apiKeyStore, rateLimiter } from '@plangate/http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { documented } from '../../../test/support/documented.ts';
import { type Asking, type Rig, startRig } from './rig.ts';

const LIMITS = { minute: 3, hour: 1_000, day: 10_000 };

const { server: redisServer, redis } = await redisForFile();
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    redis: redisServer,
    settings: { rate_limits: LIMITS },
    // A Redis that is slow for a moment must not let anything through here.
    options: {
      adapt: (parts) => ({
        ...parts,
        limit: rateLimiter(redis, LIMITS, { patienceMs: 20_000, onFault: () => {} }),
      }),
    },
  });
});
afterAll(async () => {
  await rig.stop();
});
const forget = async () => {
  const keys = await rig.redis.keys('limit:*');
  if (keys.length > 0) await rig.redis.del(...keys);
};
beforeEach(forget);
afterEach(forget);

const TASKS = '/api/v1/tasks';
const times = async (count: number, path: string, asking: Asking = {}) => {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 1) statuses.push((await rig.ask(path, asking)).status);
  return statuses;
};
const exhaust = () => times(3, TASKS);

describe('limits', () => {
  test('hold for a user over all routes that are limited, with headers on every answer', async () => {
    const { task_id } = await rig.task();
    const paths = [TASKS, '/api/v1/sessions', `${TASKS}/${task_id}/events`];
    for (const [at, path] of paths.entries()) {
      const { headers } = await rig.ask(path);
      expect(headers['x-ratelimit-limit-minute']).toBe('3');
      expect(headers['x-ratelimit-remaining-minute']).toBe(String(2 - at));
    }
    for (const path of paths) expect((await rig.ask(path)).status).toBe(429);
    expect((await rig.ask(TASKS, { key: rig.keys.bob })).status).toBe(200);
  });

  test('two keys of one user share them', async () => {
    const owner = { user: 'alice', tenant: 'acme' };
    const { key } = await apiKeyStore(rig.redis).create({ owner });
    expect(await times(2, TASKS)).toEqual([200, 200]);
    expect(await times(2, TASKS, { key })).toEqual([200, 429]);
  });

  test('a 429 is as the document says', async () => {
    await exhaust();
    const document = documented((await rig.ask('/openapi.json')).json);
    const over = await rig.ask(TASKS);
    expect([over.status, over.json.error, over.json.window]).toEqual([429, 'Rate limit exceeded', 'minute']);
    expect(document.against(`GET ${TASKS}`, over)).toEqual([]);
  });

  test('never hold up the reads that clients repeat, streams and health', async () => {
    const id = await rig.review();
    await exhaust();
    const free: [string, Asking, number][] = [
      [`${TASKS}/${id}`, {}, 200],
      [`${TASKS}/${id}/review`, {}, 200],
      [`${TASKS}/${id}/review?wait=0`, { method: 'HEAD' }, 200],
      [`/api/v1/stream/sse?workflow_id=${id}`, { method: 'HEAD' }, 200],
      ['/health', {}, 200],
      ['/openapi.json', {}, 200],
    ];
    for (const [path, asking, status] of free) {
      const answer = await rig.ask(path, asking);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers['x-ratelimit-limit-minute']).toBeUndefined();
    }
  });

  test('come after auth and the check of ids, before Idempotency-Key and body', async () => {
    await exhaust();
    expect((await rig.ask(TASKS, { key: null })).status).toBe(401);
    expect((await rig.ask(`${TASKS}/a%20b/events`)).status).toBe(400);
    expect((await rig.ask('/api/v1/sessions/a%20b')).status).toBe(400);
    const headers = { 'Idempotency-Key': 'x'.repeat(300) };
    const submit = { method: 'POST', raw: 'nonsense', headers };
    expect((await rig.ask(TASKS, submit)).status).toBe(429);
    const act = { method: 'POST', raw: 'nonsense' };
    expect((await rig.ask(`${TASKS}/unknown/review`, act)).status).toBe(429);
    // A request that is refused for its id is not counted, and neither is one without a credential.
    await forget();
    await times(5, `${TASKS}/a%20b/events`);
    await times(5, TASKS, { key: 'pg_wrong' });
    expect(await exhaust()).toEqual([200, 200, 200]);
  });

  test('with auth off there are none', async () => {
    const open = await startRig({
      redis: redisServer,
      settings: { gateway: { skip_auth: true }, rate_limits: { minute: 1, hour: 1, day: 1 } },
    });
    try {
      for (let n = 0; n < 5; n += 1) expect((await open.ask(TASKS, { key: null })).status).toBe(200);
    } finally {
      await open.stop();
    }
  });
});
