import type { NewEvent, WorkflowId } from '@plangate/contracts';
import { type Nginx, startNginx } from '@plangate/devstack';
import { endTask } from '@plangate/tasks/redis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../apps/gateway/test/rig.ts';
import { type Reader, type ReadOptions, readStream } from './support/sse.ts';
import { until } from './support/until.ts';

/** Of a gateway that nobody needs a key for. */
const OWNER = {
  user: '00000000-0000-0000-0000-000000000002',
  tenant: '00000000-0000-0000-0000-000000000001',
};

let rig: Rig;
let nginx: Nginx;
beforeAll(async () => {
  rig = await startRig({ settings: { gateway: { skip_auth: true } } });
  nginx = await startNginx({ upstream: rig.url });
}, 300_000);
afterAll(async () => {
  await nginx?.stop();
  await rig?.stop();
});

const readers: Reader[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});
function open(id: string, options?: ReadOptions): Reader {
  const reader = readStream(nginx.url, id, options);
  readers.push(reader);
  return reader;
}

const note = (message: string): NewEvent => ({ type: 'PROGRESS', agent_id: 'agent', message });
const running = async () => (await rig.task(undefined, OWNER)).task_id;
const end = (id: WorkflowId) =>
  endTask(
    id,
    { kind: 'completed', result: 'r' },
    { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 },
  );

test('P113 behind nginx as it comes: small events arrive one by one, though it buffers answers', async () => {
  const id = await running();
  const reader = open(id, { headers: { 'Accept-Encoding': 'gzip, br' } });
  await until(() => reader.text().includes('retry: 2000'));
  expect(reader.headers()).toMatchObject({
    server: expect.stringContaining('nginx'),
    'content-type': 'text/event-stream',
    'transfer-encoding': 'chunked',
  });
  expect(reader.headers()['content-encoding']).toBeUndefined();
  const times: number[] = [];
  for (const message of ['one', 'two', 'three', 'four', 'five']) {
    const began = performance.now();
    await rig.events.append(id, [note(message)]);
    // A proxy that buffered would keep it until 4 KiB are together or the stream ends.
    await until(() => reader.data().at(-1)?.message === message, 20_000, 2);
    times.push(Math.round(performance.now() - began));
  }
  process.stdout.write(`events behind nginx after ${times.join(', ')} ms\n`);
});

test('P51 a stream that is broken off is an error behind a proxy too, one that ends with done is not', async () => {
  const other = await startRig({ redis: rig.redisServer, settings: { gateway: { skip_auth: true } } });
  const between = await startNginx({ upstream: other.url });
  try {
    const id = await running();
    await rig.events.append(id, [note('before')]);
    const reader = readStream(between.url, id);
    readers.push(reader);
    await reader.has('PROGRESS');
    await other.stop();
    expect(await reader.ended).toBe('broken');
    expect(reader.text().endsWith('retry: 2000\n\n')).toBe(true);

    await rig.events.append(id, [note('after')]);
    const resumed = open(id, { headers: { 'Last-Event-ID': reader.frames().at(-1)?.id ?? '' } });
    await until(() => resumed.data().length === 1);
    expect(resumed.data()[0].message).toBe('after');
    await end(id);
    expect(await resumed.ended).toBe('end');
    expect(resumed.names().at(-1)).toBe('done');
  } finally {
    await between.stop();
  }
});

test('a long stream of large events comes through a proxy whole', async () => {
  const id = await running();
  const large = '潮'.repeat(20_000);
  const reader = open(id);
  for (let n = 0; n < 50; n += 1) await rig.events.append(id, [note(`${n} ${large}`)]);
  await end(id);
  expect(await reader.ended).toBe('end');
  expect(reader.data().map(({ seq }) => seq)).toEqual(Array.from({ length: 51 }, (_, n) => n + 1));
});
