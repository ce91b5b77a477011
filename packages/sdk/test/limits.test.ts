import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { ConflictError, ConnectionError, Plangate, TimeoutError } from '../src/index.ts';
import { json, serve } from './scripted-gateway.ts';

const RUNNING = {
  error: 'A request with this Idempotency-Key is still running',
  code: 'idempotency_running',
};
const THIRTY_DAYS = 2_592_000;

describe('a limit', () => {
  const never = () => new Promise<never>(() => undefined);
  test.each([
    ['a token', { token: never }],
    ['a fetch', { fetch: never }],
  ])('and a signal end a call whose %s never comes', async (_, options) => {
    const { tasks } = new Plangate({ ...options, timeoutSeconds: 0.05 });
    await expect(tasks.get('task-1')).rejects.toBeInstanceOf(TimeoutError);
    const controller = new AbortController();
    const call = tasks.submit({ query: 'q' }, { signal: controller.signal, timeoutSeconds: 60 });
    controller.abort(new Error('page closed'));
    await expect(call).rejects.toThrow('page closed');
  });

  test('of 30 days, or of none, does not end at once', async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const url = await serve((_req, res) => void setTimeout(() => json(res, 200, { tasks: [] }), 50));
    for (const timeoutSeconds of [THIRTY_DAYS, Number.POSITIVE_INFINITY]) {
      const client = new Plangate({ baseUrl: url, timeoutSeconds });
      expect(await client.tasks.list()).toEqual({ tasks: [] });
      expect(await client.tasks.list({ timeoutSeconds })).toEqual({ tasks: [] });
    }
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('of 30 days lets a task be waited for, and a stream be silent', async () => {
    const ended = {
      task_id: 'task-1',
      status: 'TASK_STATUS_COMPLETED',
      completed_at: '2026-01-15T10:30:00Z',
    };
    const url = await serve((req, res) => {
      if (!req.url?.includes('/stream/')) return json(res, 200, ended);
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      setTimeout(() => res.end('event: done\ndata: [DONE]\n\n'), 100);
    });
    const { tasks, events } = new Plangate({ baseUrl: url });
    expect(await tasks.wait('task-1', { timeoutSeconds: THIRTY_DAYS })).toEqual(ended);
    expect(await events.stream('task-1', { silenceSeconds: THIRTY_DAYS }).next()).toMatchObject({
      done: true,
    });
  });

  test.each([0, -1, Number.NaN])('of %d seconds is refused before anything is sent', async (seconds) => {
    const { tasks, events } = new Plangate({ baseUrl: 'http://127.0.0.1:9' });
    await expect(tasks.list({ timeoutSeconds: seconds })).rejects.toThrow(
      'timeoutSeconds must be more than 0',
    );
    await expect(tasks.wait('t', { timeoutSeconds: seconds })).rejects.toThrow('timeoutSeconds must be');
    expect(() => events.stream('t', { silenceSeconds: seconds })).toThrow(
      'silenceSeconds must be more than 0',
    );
  });
});

describe('an attempt that the gateway is still at work on', () => {
  test('is asked for until it is done, however few further attempts are allowed', async () => {
    const keys: unknown[] = [];
    const url = await serve((req, res) => {
      keys.push(req.headers['idempotency-key']);
      if (keys.length < 5) return json(res, 409, RUNNING, { 'Retry-After': '0' });
      return json(res, 200, { status: 'approved', message: 'Research started' }, { ETag: '"3"' });
    });
    const { review } = new Plangate({ baseUrl: url, maxRetries: 0 });
    expect(await review.approve('task-1', { version: 2 })).toMatchObject({ status: 'approved', version: 3 });
    expect([keys.length, new Set(keys).size]).toEqual([5, 1]);
  });

  test('for longer than the limit says how to ask again', async () => {
    const url = await serve((_req, res) => json(res, 409, RUNNING, { 'Retry-After': '2' }));
    const asked = new Plangate({ baseUrl: url }).review.approve('task-1', { version: 2, timeoutSeconds: 1 });
    await expect(asked).rejects.toThrow(ConflictError);
    await expect(asked).rejects.toThrow('ask again in 2 s with the same idempotencyKey');
  });
});

describe('a gateway that takes the connection and says nothing', () => {
  const silent = () => serve(() => undefined);

  test('is away for a stream, and for who waits for a task', async () => {
    const { events } = new Plangate({ baseUrl: await silent(), maxRetries: 0 });
    const stream = events.stream('task-1', { silenceSeconds: 0.2 });
    await expect(stream.next()).rejects.toThrow(ConnectionError);
  });

  test("is given up after the client's own limit, as for every other call", async () => {
    const { events, review } = new Plangate({ baseUrl: await silent(), timeoutSeconds: 0.3 });
    await expect(events.stream('task-1').next()).rejects.toThrow('no answer within 0.3 s');
    await expect(review.waitUntilReady('task-1')).rejects.toThrow('no answer within 0.3 s');
  });

  test('ends the wait for a plan with the limit of the wait', async () => {
    const { review } = new Plangate({ baseUrl: await silent() });
    await expect(review.waitUntilReady('task-1', { timeoutSeconds: 0.3 })).rejects.toThrow(TimeoutError);
  });
});

test('the wait for a plan ends with its own limit, whatever Retry-After says', async () => {
  let looks = 0;
  const url = await serve((_req, res) => {
    looks += 1;
    if (looks === 1) return json(res, 404, { error: 'Review session not found', code: 'review_not_found' });
    if (looks === 2) return json(res, 200, { status: 'TASK_STATUS_RUNNING' });
    json(res, 503, { error: 'Redis is away', code: 'store_unavailable' }, { 'Retry-After': '3600' });
  });
  const { review } = new Plangate({ baseUrl: url });
  const late = review.waitUntilReady('task-1', { timeoutSeconds: 0.8 });
  await expect(late).rejects.toThrow('task task-1 has no plan after 0.8 s; it goes on');
});

test('the wait for a task outlives a look that is not answered in time', async () => {
  let looks = 0;
  const url = await serve((_req, res) => {
    looks += 1;
    if (looks === 1) json(res, 200, { status: 'TASK_STATUS_RUNNING' });
    if (looks === 3) json(res, 200, { status: 'TASK_STATUS_COMPLETED' });
  });
  const { tasks } = new Plangate({ baseUrl: url, timeoutSeconds: 0.5, maxRetries: 0 });
  const done = await tasks.wait('task-1', { by: 'polling', intervalSeconds: 0.05 });
  expect([done.status, looks]).toEqual(['TASK_STATUS_COMPLETED', 3]);
});

test('the wait for a plan outlives a gateway that breaks off while it is asked whether the task still runs', async () => {
  const asked: string[] = [];
  const url = await serve((req, res) => {
    asked.push((req.url ?? '').split('?', 1)[0] ?? '');
    if (asked.length === 1) json(res, 404, { error: 'Review session not found', code: 'review_not_found' });
    else if (asked.length === 2) res.destroy();
    else json(res, 200, { status: 'reviewing', version: 1 });
  });
  const { review } = new Plangate({ baseUrl: url, maxRetries: 0 });
  expect(await review.waitUntilReady('task-1')).toMatchObject({ version: 1 });
  expect(asked).toEqual(['review', '', 'review'].map((part) => `/api/v1/tasks/task-1${part && `/${part}`}`));
});

test('an approval whose ETag was taken off on the way has no version that anything could be bound to', async () => {
  const url = await serve((_req, res) => json(res, 200, { status: 'approved', message: 'Research started' }));
  const { review } = new Plangate({ baseUrl: url });
  const approved = await review.approve('task-1', { version: 2 });
  await expect(review.edit(approved, 'Mine')).rejects.toThrow('pass the state that was read');
});

test('what names nothing is refused before anything is sent', async () => {
  const plangate = new Plangate({ baseUrl: 'http://127.0.0.1:9' });
  const nothing = undefined as unknown as string;
  await expect(plangate.tasks.get(nothing)).rejects.toThrow('a task id is needed');
  await expect(plangate.sessions.get(nothing)).rejects.toThrow('a session id is needed');
  const badKey = plangate.tasks.submit({ query: 'q' }, { idempotencyKey: 'é中' });
  await expect(badKey).rejects.toThrow('idempotencyKey must have 1 to 255 visible ASCII characters');
  expect(() => new Plangate({ baseUrl: 'http://localhost:8080?x=1' })).toThrow('baseUrl is no address');
});

test('the wait for a task outlives a gateway that is away right after the last event', async () => {
  let isDone = false;
  let looks = 0;
  const url = await serve((req, res) => {
    if (req.url?.includes('/stream/')) {
      isDone = true;
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('event: done\ndata: [DONE]\n\n');
    } else if (isDone && ++looks <= 2) res.socket?.resetAndDestroy();
    else json(res, 200, { task_id: 'task-1', status: 'TASK_STATUS_COMPLETED' });
  });
  const { tasks } = new Plangate({ baseUrl: url, maxRetries: 0 });
  expect(await tasks.wait('task-1')).toMatchObject({ status: 'TASK_STATUS_COMPLETED' });
  expect(looks).toBe(3);
});

test('a wait that would ask without any pause is refused', async () => {
  const { tasks } = new Plangate();
  for (const intervalSeconds of [0, -1, Number.NaN]) {
    const wait = tasks.wait('task-1', { by: 'polling', intervalSeconds });
    await expect(wait).rejects.toThrow('intervalSeconds must be more than 0');
  }
});

test('a signal that outlives its calls, streams and waits keeps nothing of them', async () => {
  const url = await serve((req, res) => {
    if (!req.url?.includes('/stream/')) return json(res, 200, { status: 'TASK_STATUS_COMPLETED' });
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('event: done\ndata: [DONE]\n\n');
  });
  const { tasks, events } = new Plangate({ baseUrl: url });
  const { signal } = new AbortController();
  // Node 20 and 22 keep a weak reference for every signal that was made of another one.
  const combined = vi.spyOn(AbortSignal, 'any');
  await tasks.get('task-1', { signal });
  await tasks.wait('task-1', { signal });
  for await (const _ of events.stream('task-1', { signal }));
  for await (const _ of events.stream('task-1', { signal })) break;
  events.stream('task-1', { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(combined.mock.calls.flat(2)).not.toContain(signal);
  combined.mockRestore();
});
