import type { NewEvent, WorkflowId } from '@plangate/contracts';
import { endTask } from '@plangate/tasks/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openStream, type RawStream } from '../apps/gateway/test/raw-stream.ts';
import { type Rig, startRig } from '../apps/gateway/test/rig.ts';

let rig: Rig;
let id: WorkflowId;
beforeAll(async () => {
  rig = await startRig();
  id = await rig.review();
});
afterAll(() => rig?.stop());

const opened: RawStream[] = [];
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});
function send(
  method: string,
  path: string,
  more: { version?: string; headers?: Record<string, string> } = {},
) {
  const stream = openStream(rig.port, path, { key: rig.keys.alice, method, ...more });
  opened.push(stream);
  return stream;
}
const streamOf = (workflowId: string, query = '') => `/api/v1/stream/sse?workflow_id=${workflowId}${query}`;
const note = (message: string): NewEvent => ({ type: 'PROGRESS', agent_id: 'agent', message });
const end = (workflowId: WorkflowId) =>
  endTask(
    workflowId,
    { kind: 'completed', result: 'r' },
    { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 },
  );

describe('HEAD', () => {
  test.each([
    ['an open stream', () => streamOf(id), 200],
    ['a stream of an unknown workflow', () => streamOf('task-unknown'), 404],
    ['a stream without an id', () => '/api/v1/stream/sse', 400],
    ['a stream from a malformed position', () => streamOf(id, '&last_event_id=x'), 400],
    ['a review', () => `/api/v1/tasks/${id}/review`, 200],
    ['the versions of a plan', () => `/api/v1/tasks/${id}/review/versions`, 200],
    ['an unknown review', () => '/api/v1/tasks/task-unknown/review', 404],
    ['a task', () => `/api/v1/tasks/${id}`, 200],
    ['the tasks', () => '/api/v1/tasks', 200],
    ['the events of a task', () => `/api/v1/tasks/${id}/events`, 200],
    ['the way to a stream', () => `/api/v1/tasks/${id}/stream`, 307],
    ['health', () => '/health', 200],
    ['a route for POST alone', () => `/api/v1/tasks/${id}/cancel`, 405],
    ['no route', () => '/nothing', 404],
  ])('of %s: the headers, no body, nothing left hanging', async (_name, path, status) => {
    const asked = send('HEAD', path(), { headers: { Connection: 'close' } });
    expect(await asked.ended).toBe('end');
    expect(asked.status()).toBe(status);
    expect(asked.text().indexOf('\r\n\r\n')).toBe(asked.text().length - 4);
  });

  test.each(['', '/review'])('of tasks/{id}%s: the same headers as GET', async (suffix) => {
    const path = `/api/v1/tasks/${id}${suffix}`;
    const varying = /^(x-request-id|date):[^\n]*\n/gim;
    const heads = [];
    for (const method of ['GET', 'HEAD']) {
      const asked = send(method, path, { headers: { Connection: 'close' } });
      await asked.ended;
      heads.push(asked.head().replace(varying, ''));
    }
    expect(heads[1]).toBe(heads[0]);
  });

  test('takes no place of an open stream', async () => {
    const limited = await startRig({ redis: rig.redisServer, settings: { events: { streams_per_user: 1 } } });
    try {
      for (let n = 0; n < 5; n += 1) {
        expect((await limited.ask(streamOf(id), { method: 'HEAD' })).status).toBe(200);
      }
      const one = openStream(limited.port, streamOf(id), { key: limited.keys.alice });
      opened.push(one);
      await one.has('retry: 2000');
    } finally {
      await limited.stop();
    }
  });
});

describe('HTTP/1.0', () => {
  test('live events come one by one, without chunks, and done ends the connection', async () => {
    const { task_id: running } = await rig.task();
    const stream = send('GET', streamOf(running), { version: '1.0' });
    await stream.has('retry: 2000');
    await rig.events.append(running, [note('one')]);
    await stream.has('"one"');
    await rig.events.append(running, [note('two')]);
    await stream.has('"two"');
    await end(running);
    expect(await stream.ended).toBe('end');
    expect(stream.head()).not.toMatch(/transfer-encoding|content-length/i);
    expect(stream.frames().map(({ event }) => event)).toEqual([
      'PROGRESS',
      'PROGRESS',
      'WORKFLOW_COMPLETED',
      'done',
    ]);
  });

  test('a client without Host and with keep-alive asked for is served and closed', async () => {
    const { task_id: running } = await rig.task();
    await end(running);
    const stream = send('GET', streamOf(running), { version: '1.0', headers: { Connection: 'keep-alive' } });
    expect(await stream.ended).toBe('end');
    expect(stream.text().endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

test.each(['gzip', 'br, gzip;q=0.5', 'identity;q=0, gzip', '*'])(
  'P113 Accept-Encoding "%s": an event stream is never compressed',
  async (encoding) => {
    const { task_id: running } = await rig.task();
    const stream = send('GET', streamOf(running), { headers: { 'Accept-Encoding': encoding } });
    await rig.events.append(running, [note('plain text')]);
    await stream.has('plain text');
    expect(stream.head()).not.toMatch(/content-encoding/i);
    expect(stream.head()).toMatch(/cache-control: no-cache, no-transform/i);
  },
);
