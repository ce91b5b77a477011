import { startApp, startRedis } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import { TaskStore } from '@plangate/tasks/redis';
import { expect, test } from 'vitest';
import { openStream } from './raw-stream.ts';
import { NOWHERE, recordOf, startRig, until } from './rig.ts';

test('a gateway that stops takes no new request and finishes a feedback, even one whose client has gone', async () => {
  const redis = await startRedis();
  const rig = await startRig({ redis });
  const [kept, gone] = [await rig.review(), await rig.review()];
  const go = Promise.withResolvers<void>();
  rig.llm.reply = async () => {
    await go.promise;
    return { message: 'Finished' };
  };
  const path = (id: string) => `/api/v1/tasks/${id}/review`;
  const answer = rig.post(path(kept), { action: 'feedback', message: 'x' });
  const body = JSON.stringify({ action: 'feedback', message: 'x' });
  const left = openStream(rig.port, path(gone), {
    key: rig.keys.alice,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': String(body.length) },
  });
  left.socket.write(body);
  await until(() => rig.llm.requests.length === 2);
  left.socket.resetAndDestroy();

  const stopping = rig.gateway.stop();
  await until(() =>
    rig.ask('/health').then(
      () => false,
      () => true,
    ),
  );
  go.resolve();
  expect(await answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await stopping;
  for (const id of [kept, gone]) expect((await rig.reviews.load(id)).state?.version).toBe(2);
  await rig.llm.stop();
  rig.redis.disconnect();
  await redis.stop();
});

test('a gateway that stops gives up on what takes longer than the limit', async () => {
  const rig = await startRig({ options: { stopLimitMs: 200 } });
  const id = await rig.review();
  rig.llm.reply = () => new Promise(() => {});
  const answer = rig
    .post(`/api/v1/tasks/${id}/review`, { action: 'feedback', message: 'x' })
    .catch((e: Error) => e);
  await until(() => rig.llm.requests.length === 1);
  const began = performance.now();
  await rig.stop();
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await answer).toBeInstanceOf(Error);
});

test('the process says where it listens, breaks streams off on SIGTERM and ends', async () => {
  const server = await startRedis();
  const redis = connectRedis(server.url);
  await until(() => redis.status === 'ready');
  const app = await startApp('gateway', {
    env: { REDIS_URL: server.url, TEMPORAL_ADDRESS: NOWHERE, GATEWAY_SKIP_AUTH: '1' },
  });
  const owner = {
    user: '00000000-0000-0000-0000-000000000002',
    tenant: '00000000-0000-0000-0000-000000000001',
  };
  const record = recordOf({}, owner);
  await new TaskStore(redis).create(record);
  expect(app.logs()).toMatch(/"url":"http:\/\/127\.0\.0\.1:\d+","msg":"listening"/);
  expect(app.logs()).toContain('AUTHENTICATION IS OFF');
  const port = Number(new URL(app.url!).port);
  const stream = openStream(port, `/api/v1/stream/sse?workflow_id=${record.task_id}`, { key: '' });
  await stream.has('retry: 2000');
  process.kill(app.pid, 'SIGTERM');
  expect(await stream.ended).toBe('reset');
  await until(() => app.logs().includes('"msg":"stopped"'));
  await app.stop();
  redis.disconnect();
  await server.stop();
}, 60_000);
