import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Product, startProduct } from '../../../test/support/product.ts';
import { until } from '../../../test/support/until.ts';
import {
  AuthenticationError,
  ConnectionError,
  InternalServerError,
  NotFoundError,
  Plangate,
  PlangateError,
  RateLimitError,
  ServiceUnavailableError,
  TimeoutError,
} from '../src/index.ts';
import { type FaultProxy, type Seen, startFaultProxy } from './fault-proxy.ts';

let product: Product;
let proxy: FaultProxy;
let plangate: Plangate;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.stop());
beforeEach(async () => {
  proxy = await startFaultProxy(product.stack.gatewayUrl);
  plangate = new Plangate({ baseUrl: proxy.url });
});
afterEach(() => proxy.stop());

const isPost = ({ method }: Seen) => method === 'POST';
const any = () => true;
const away = { do: 'answer', status: 503, headers: { 'Retry-After': '1' } } as const;

describe('further attempts', () => {
  test('a submit outlives a refused connection and a 503, under one idempotency key', async () => {
    proxy.fail(isPost, { do: 'refuse' }, away);
    const began = performance.now();
    const task = await plangate.tasks.submit({ query: 'What is tried again?' });
    expect(performance.now() - began).toBeGreaterThan(1_000);
    const posts = proxy.seen.filter(isPost);
    expect(posts).toHaveLength(3);
    const keys = posts.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[\x21-\x7e]{16,255}$/);
    await plangate.tasks.submit({ query: 'What is another call?' });
    expect(proxy.seen.at(-1)?.headers['idempotency-key']).not.toBe(keys[0]);
    expect(task.task_id).toMatch(/^task-/);
  });

  test('a feedback whose answer was lost is not made twice', async () => {
    const query = 'What causes tides? SDK lost answer';
    const task = await plangate.tasks.submit({ query, context: { require_review: true } });
    const plan = await plangate.review.waitUntilReady(task);
    proxy.fail(isPost, { do: 'lose-answer' });
    const revised = await plangate.review.feedback(plan, 'Only open sources');
    expect(revised).toMatchObject({ version: 2, round: 2 });
    expect(product.model.calls(query, 'plan')).toHaveLength(2);
    expect(await plangate.review.get(task)).toMatchObject({ version: 2 });
    await plangate.tasks.cancel(task);
  });

  test('a submit whose answer was lost makes one task', async () => {
    const session_id = 'sdk-lost-submit';
    proxy.fail(isPost, { do: 'lose-answer' });
    const task = await plangate.tasks.submit({ query: 'What is made once?', session_id });
    const { tasks } = await plangate.tasks.list({ session_id });
    expect(tasks.map(({ task_id }) => task_id)).toEqual([task.task_id]);
  });

  test('an approve whose answer was lost is answered as approved', async () => {
    const task = await plangate.tasks.submit({
      query: 'What causes tides? SDK lost approve',
      context: { require_review: true },
    });
    const plan = await plangate.review.waitUntilReady(task);
    proxy.fail(isPost, { do: 'lose-answer' }, { do: 'lose-answer' });
    expect(await plangate.review.approve(plan)).toMatchObject({ status: 'approved', version: 2 });
    const { entries } = await plangate.review.audit(task);
    expect(
      entries.filter(({ action, outcome }) => action === 'approve' && outcome === 'accepted'),
    ).toHaveLength(1);
  });

  test('maxRetries counts the further attempts, for the client and for a call', async () => {
    proxy.fail(any, ...Array.from({ length: 9 }, () => ({ do: 'refuse' }) as const));
    await expect(plangate.tasks.list({ maxRetries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    expect(proxy.seen).toHaveLength(1);
    const patient = new Plangate({ baseUrl: proxy.url, maxRetries: 1 });
    await expect(patient.tasks.list()).rejects.toBeInstanceOf(ConnectionError);
    expect(proxy.seen).toHaveLength(3);
  });

  test('what does not pass by itself is not tried again', async () => {
    await expect(plangate.tasks.get('task-unknown')).rejects.toBeInstanceOf(NotFoundError);
    proxy.fail(any, {
      do: 'answer',
      status: 500,
      body: '{"error":"Internal server error","code":"internal"}',
    });
    await expect(plangate.tasks.list()).rejects.toBeInstanceOf(InternalServerError);
    expect(proxy.seen).toHaveLength(2);
  });

  test('a Retry-After beyond the time limit is reported at once, in seconds', async () => {
    const limited = {
      do: 'answer',
      status: 429,
      headers: { 'Retry-After': '3600', 'X-Request-ID': 'r-1' },
      body: '{"error":"Rate limit exceeded","code":"rate_limited","window":"hour"}',
    } as const;
    proxy.fail(any, limited);
    const error = await failure(plangate.tasks.list());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3600, requestId: 'r-1' });
    expect(error).toHaveProperty('body.window', 'hour');
    expect(error.message).toContain('Come back in 3600 s.');
    expect(proxy.seen).toHaveLength(1);
  });

  test('a proxy whose gateway is away is tried again; its HTML is no error body', async () => {
    proxy.fail(any, { do: 'answer', status: 502, body: '<html>' });
    expect(await plangate.tasks.list()).toHaveProperty('tasks');
    expect(proxy.seen).toHaveLength(2);
    proxy.fail(
      any,
      ...Array.from({ length: 3 }, () => ({ do: 'answer', status: 503, body: '<html>' }) as const),
    );
    const error = await failure(plangate.tasks.list());
    expect(error).toBeInstanceOf(ServiceUnavailableError);
    expect(error).toMatchObject({ code: 'unknown', body: null, requestId: null });
  });
});

describe('time and signals', () => {
  test('timeoutSeconds ends the whole call', async () => {
    proxy.fail(any, { do: 'refuse' }, { do: 'hang' });
    const error = await failure(plangate.tasks.list({ timeoutSeconds: 1.5 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.message).toContain('no answer within 1.5 s');
  });

  test('a signal ends a call and a pause between attempts with its own reason', async () => {
    proxy.fail(any, { do: 'hang' });
    const hanging = new AbortController();
    const call = plangate.tasks.list({ signal: hanging.signal });
    await until(() => proxy.seen.length === 1);
    hanging.abort(new Error('page closed'));
    await expect(call).rejects.toThrow('page closed');

    proxy.fail(any, { ...away, headers: { 'Retry-After': '60' } });
    const pausing = new AbortController();
    const later = plangate.tasks.list({ signal: pausing.signal });
    await until(() => proxy.seen.length === 2);
    pausing.abort(new Error('page closed again'));
    await expect(later).rejects.toThrow('page closed again');
  });

  test('an answer that breaks off in its middle is a broken connection', async () => {
    proxy.fail(any, { do: 'cut', afterBytes: 10 });
    await expect(plangate.tasks.list({ maxRetries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    proxy.fail(any, { do: 'cut', afterBytes: 10 });
    expect(await plangate.tasks.list()).toHaveProperty('tasks');
  });
});

test('a gateway that is not there is named, with what to do', async () => {
  const nobody = new Plangate({ baseUrl: 'http://127.0.0.1:2', maxRetries: 0 });
  const error = await failure(nobody.tasks.list());
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.message).toContain('http://127.0.0.1:2 cannot be reached (ECONNREFUSED)');
  expect(error.message).toContain('npm start');
});

test('what is no Plangate is told', async () => {
  const server: Server = createServer((_, res) => res.end('<html>Hello</html>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stranger = new Plangate({ baseUrl: `http://127.0.0.1:${port}` });
  await expect(stranger.tasks.list()).rejects.toThrow('what answers at baseUrl is not Plangate');
  await expect(stranger.events.stream('task-1').next()).rejects.toBeInstanceOf(PlangateError);
  server.closeAllConnections();
  server.close();
});

test.each([
  [{ baseUrl: 'localhost:8080' }, 'baseUrl is no address'],
  [{ baseUrl: '' }, 'baseUrl is no address'],
  [{ baseUrl: 'http://ada:s3cret@localhost' }, 'baseUrl must not hold a user or password'],
  [{ baseUrl: 'http://localhost\n' }, 'baseUrl is no address'],
  [{ timeoutSeconds: 0 }, 'timeoutSeconds must be more than 0'],
  [{ maxRetries: -1 }, 'maxRetries must be a whole number'],
  [{ apiKey: 'pg_\n' }, 'apiKey has characters that no key has'],
  [{ apiKey: 'a', token: 'b' }, 'apiKey or token, not both'],
])('an option that cannot be right is refused: %j', (options, text) => {
  expect(() => new Plangate(options)).toThrow(text);
});

describe('credentials', () => {
  test('a key, a token and a token that is made anew are sent', async () => {
    await new Plangate({ baseUrl: proxy.url, apiKey: 'pg_secret' }).tasks.list();
    expect(proxy.seen.at(-1)?.headers['x-api-key']).toBe('pg_secret');
    let made = 0;
    const fresh = new Plangate({ baseUrl: proxy.url, token: async () => `t${++made}` });
    await fresh.tasks.list();
    await fresh.tasks.list();
    expect(proxy.seen.slice(-2).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t1',
      'Bearer t2',
    ]);
  });

  test('a refused key says how to get another, without naming the key', async () => {
    proxy.fail(any, {
      do: 'answer',
      status: 401,
      body: '{"error":"Invalid token","code":"invalid_token"}',
    });
    const error = await failure(new Plangate({ baseUrl: proxy.url, apiKey: 'pg_secret' }).tasks.list());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error.message).toContain('npm run keys -- create');
    expect(JSON.stringify(error) + error.stack).not.toContain('pg_secret');
  });
});

async function failure(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('it should have failed');
}
