import { apiKeyStore } from '@plangate/http';
import { connectRedis } from '@plangate/redis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
const keys: Record<string, string> = {};
beforeAll(async () => {
  rig = await startRig({ skipAuth: false, ownTemporal: true, env: { RATE_LIMIT_MINUTE: '30' } });
  const redis = connectRedis(rig.stack.redis.url);
  await vi.waitUntil(() => redis.status === 'ready');
  for (const user of ['ada', 'bob', 'cid']) {
    keys[user] = (await apiKeyStore(redis).create({ owner: { user, tenant: 'acme' } })).key;
  }
  redis.disconnect();
});
afterAll(() => rig?.stop());

const APPROVE = { type: 'approve' };
const as = (user: string) => ({ 'X-API-Key': keys[user] ?? '' });

describe('with authentication on', () => {
  test.each(['/hitl/chat', '/hitl/review'])('%s without a credential is 401', async (path) => {
    const { status, body, headers } = await rig.post(path, { message: 'x' });
    expect([status, body]).toEqual([401, { detail: 'Authentication required' }]);
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await rig.post(path, {}, { 'X-API-Key': 'wrong' })).toMatchObject({
      status: 401,
      body: { detail: 'Invalid token' },
    });
  });

  test('P13 P111 a thread of another owner is unknown, also under the same id', async () => {
    rig.llm.on('mine', [{ calls: [{ name: 'note', args: { n: 1 } }] }, 'Done.']);
    const mine = await rig.post('/hitl/chat', { message: 'mine', thread_id: 'same' }, as('ada'));
    expect(mine.body.pending_review).not.toBeNull();
    expect(await rig.get('/hitl/threads/same', as('bob'))).toMatchObject({ status: 404 });
    expect(await rig.get('/hitl/threads/same/messages', as('bob'))).toMatchObject({ status: 404 });
    const decided = { thread_id: 'same', decisions: [APPROVE] };
    expect(await rig.post('/hitl/review', decided, as('bob'))).toMatchObject({
      status: 400,
      body: { detail: 'Tidak ada aksi yang menunggu persetujuan di percakapan ini' },
    });
    rig.llm.on('his', ['Hello Bob.']);
    const his = await rig.post('/hitl/chat', { message: 'his', thread_id: 'same' }, as('bob'));
    expect(his.body.answer).toBe('Hello Bob.');
    expect((await rig.post('/hitl/review', decided, as('ada'))).body.answer).toBe('Done.');
  });

  test('one request too many in a minute is 429, for its user only', async () => {
    const path = '/hitl/threads/none/messages';
    for (let n = 0; n < 30; n += 1) expect((await rig.get(path, as('cid'))).status).toBe(404);
    const { status, body, headers } = await rig.get(path, as('cid'));
    expect([status, body]).toEqual([429, { detail: 'Rate limit exceeded' }]);
    expect(headers.get('retry-after')).toMatch(/^[1-9]/);
    expect((await rig.get(path, as('bob'))).status).toBe(404);
  });
});

test('while Temporal is away everything that needs it is 503 in time, and afterwards the review is still there', async () => {
  rig.llm.on('away', [{ calls: [{ name: 'note', args: { n: 2 } }] }, 'Done.']);
  const { body } = await rig.post('/hitl/chat', { message: 'away' }, as('ada'));
  const id = body.thread_id;
  await rig.stack.temporal.kill();
  const asked = [
    () => rig.post('/hitl/chat', { message: 'x' }, as('ada')),
    () => rig.post('/hitl/review', { thread_id: id, decisions: [APPROVE] }, as('ada')),
    () => rig.get(`/hitl/threads/${id}`, as('ada')),
  ];
  for (const ask of asked) {
    const { status, body, headers } = await ask();
    expect([status, body]).toEqual([503, { detail: 'Task engine unavailable' }]);
    expect(headers.get('retry-after')).toMatch(/^[1-9]/);
  }
  expect((await rig.get('/readiness')).status).toBe(503);
  expect((await rig.get('/health')).status).toBe(200);

  await rig.stack.temporal.restart();
  await until(async () => (await rig.get(`/hitl/threads/${id}`, as('ada'))).status === 200, 60_000);
  expect((await rig.get(`/hitl/threads/${id}`, as('ada'))).body).toEqual(body);
  const decided = await rig.post('/hitl/review', { thread_id: id, decisions: [APPROVE] }, as('ada'));
  expect([decided.status, decided.body.answer]).toEqual([200, 'Done.']);
  expect(rig.tool.calls).toEqual([1, 2]);
}, 150_000);
