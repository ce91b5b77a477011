import { startRedis } from '@plangate/devstack';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { connectRedis } from '@plangate/redis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RateLimitOptions, type RateLimits, rateLimiter, setPrincipal } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

const { redis } = await redisForFile({ flush: true });
let site: TestServer;
let faults: string[] = [];
const UNLIMITED: RateLimits = { minute: 0, hour: 0, day: 0 };

beforeEach(() => {
  faults = [];
});
afterEach(() => site.close());

/** Limits whoever the headers `X-User` and `X-Tenant` name. */
async function limit(limits: Partial<RateLimits>, options: Partial<RateLimitOptions> = {}, store = redis) {
  const limiter = rateLimiter(
    store,
    { ...UNLIMITED, ...limits },
    { patienceMs: 10_000, onFault: ({ message }) => faults.push(message), ...options },
  );
  site = await serve(async (req, res, next) => {
    const { 'x-user': user = 'alice', 'x-tenant': tenant = 'acme', 'x-via': via } = req.headers;
    setPrincipal(req, {
      owner: { user: String(user), tenant: String(tenant) },
      role: 'user',
      via: via === 'skip' ? 'skip' : 'api-key',
    });
    await limiter(req, res);
    next();
  });
}
const ask = (headers: Record<string, string> = {}) => site.ask('/', { headers });
async function statuses(count: number, headers = {}): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 0; n < count; n += 1) seen.push((await ask(headers)).status);
  return seen;
}

describe('a window', () => {
  test('lets as many through as the limit says; its headers count down to the time when it ends', async () => {
    await limit({ minute: 3 });
    const began = Math.floor(Date.now() / 1_000);
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await ask();
      expect([status, headers['x-ratelimit-limit-minute']]).toEqual([200, '3']);
      expect(headers['x-ratelimit-remaining-minute']).toBe(remaining);
      const reset = Number(headers['x-ratelimit-reset']);
      expect(reset).toBeGreaterThanOrEqual(began + 1);
      expect(reset).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000) + 60);
    }
    const over = await ask();
    expect([over.status, over.headers['x-ratelimit-remaining-minute']]).toEqual([429, '0']);
    const seconds = Number(over.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(over.json).toEqual({
      error: 'Rate limit exceeded',
      message: `Too many requests. minute limit exceeded. Please retry after ${seconds} seconds.`,
      window: 'minute',
      code: 'rate_limited',
    });
  });

  test('ends: then requests are let through again', async () => {
    await limit({ minute: 1 });
    expect(await statuses(2)).toEqual([200, 429]);
    const [key = ''] = await redis.keys('limit:minute:*');
    await redis.pexpire(key, 1);
    await expect.poll(() => redis.exists(key)).toBe(0);
    expect((await ask()).status).toBe(200);
  });

  test('counts requests at once one by one', async () => {
    await limit({ minute: 5 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  test('of an hour and of a day is named where it is exceeded, and says when it ends', async () => {
    await limit({ minute: 100, hour: 2 });
    expect(await statuses(2)).toEqual([200, 200]);
    const over = await ask();
    expect([over.status, over.json.window, over.json.message]).toEqual([
      429,
      'hour',
      expect.stringContaining('hour limit exceeded'),
    ]);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(3_500);
    expect(over.headers['x-ratelimit-limit-minute']).toBe('100');
    await site.close();
    await limit({ day: 1 });
    expect(await statuses(1)).toEqual([200]);
    expect((await ask()).json.window).toBe('day');
  });

  test('a request too many in the minute does not count against hour and day', async () => {
    await limit({ minute: 1, hour: 2, day: 2 });
    expect(await statuses(5)).toEqual([200, 429, 429, 429, 429]);
    for (const window of ['hour', 'day']) expect(await redis.get(`limit:${window}:acme:alice`)).toBe('1');
  });

  test('that a burst has filled beyond its limit gives back what the minute refused', async () => {
    await limit({ minute: 2, hour: 4, day: 4 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const window of ['hour', 'day']) expect(await redis.get(`limit:${window}:acme:alice`)).toBe('2');
    await redis.del('limit:minute:acme:alice');
    expect(await statuses(2)).toEqual([200, 200]);
  });

  test('of 0 is no limit', async () => {
    await limit({});
    const { status, headers } = await ask();
    expect([status, headers['x-ratelimit-limit-minute']]).toEqual([200, undefined]);
    expect(await redis.keys('*')).toEqual([]);
  });
});

test('users are counted apart, whatever their names are', async () => {
  await limit({ minute: 1 });
  const users: Record<string, string>[] = [
    {},
    { 'X-User': 'bob' },
    { 'X-Tenant': 'umbrella' },
    { 'X-User': 'b:c', 'X-Tenant': 'a' },
    { 'X-User': 'c', 'X-Tenant': 'a:b' },
  ];
  for (const headers of users) expect(await statuses(2, headers)).toEqual([200, 429]);
});

test('a counter that is something else lets its user through, and nobody besides', async () => {
  await limit({ minute: 1 });
  await redis.hset('limit:minute:acme:broken', 'a', 'b');
  expect(await statuses(3, { 'X-User': 'broken' })).toEqual([200, 200, 200]);
  expect(faults).toHaveLength(3);
  expect(faults[0]).toContain('WRONGTYPE');
  expect(await statuses(2, { 'X-User': 'carol' })).toEqual([200, 429]);
});

test('with auth off nothing is counted', async () => {
  await limit({ minute: 1 });
  expect(await statuses(3, { 'X-Via': 'skip' })).toEqual([200, 200, 200]);
  expect(await redis.keys('*')).toEqual([]);
});

describe('while Redis is away', () => {
  test('everything is let through, without headers that nobody has counted', async () => {
    const away = connectRedis('redis://127.0.0.1:1/0');
    await limit({ minute: 1 }, {}, away);
    const answer = await ask();
    expect([answer.status, answer.headers['x-ratelimit-limit-minute']]).toEqual([200, undefined]);
    expect(await statuses(3)).toEqual([200, 200, 200]);
    away.disconnect();
  });

  test('one that does not answer holds up one request a little, and the next ones not at all', async () => {
    const own = await startRedis();
    const stopped = connectRedis(own.url, { commandTimeoutMs: 60_000 });
    await new Promise((resolve) => stopped.once('ready', resolve));
    let clock = 1_000_000;
    await limit({ minute: 1 }, { patienceMs: 50, now: () => clock }, stopped);
    // Nothing is answered in the meantime.
    await stopped.client('PAUSE', 3_000);
    expect(await statuses(6)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(faults).toEqual(['no answer within 50 ms']);
    const askLater = async () => {
      clock += 2_000;
      return (await ask()).headers['x-ratelimit-limit-minute'];
    };
    await expect.poll(askLater, { timeout: 20_000 }).toBe('1');
    stopped.disconnect();
    await own.stop();
  });
});
