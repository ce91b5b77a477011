import { redisForFile } from '@plangate/devstack/vitest-redis';
import { describe, expect, it, vi } from 'vitest';
import { defineScript, isRedisUnavailable } from '../src/index.ts';

const { server, redis } = await redisForFile();

async function faultOf(work: () => Promise<unknown>): Promise<unknown> {
  return work().then(
    () => null,
    (error: unknown) => error,
  );
}

describe('a connection for requests', () => {
  it('while Redis is away a request fails at once, as unavailable; nothing is queued', async () => {
    await server.kill();
    await vi.waitUntil(() => redis.status !== 'ready');
    const before = performance.now();
    const error = await faultOf(() => redis.set('queued', '1'));
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(isRedisUnavailable(error)).toBe(true);
    await server.restart();
    await vi.waitUntil(() => redis.status === 'ready', { timeout: 10_000 });
    expect(await redis.get('queued')).toBeNull();
  });

  it('a Redis that hangs is unavailable after the time-out', async () => {
    process.kill(server.pid, 'SIGSTOP');
    try {
      expect(isRedisUnavailable(await faultOf(() => redis.get('x')))).toBe(true);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  it('a fault of ours is not taken for an absence of Redis', async () => {
    await redis.set('text', 'a');
    expect(isRedisUnavailable(await faultOf(() => redis.hgetall('text')))).toBe(false);
    expect(isRedisUnavailable(new TypeError('x is not a function'))).toBe(false);
  });

  it('a full Redis is unavailable for writes', async () => {
    await redis.config('SET', 'maxmemory', '1');
    const error = await faultOf(() => redis.set('more', 'x'.repeat(1_000)));
    await redis.config('SET', 'maxmemory', '0');
    expect(isRedisUnavailable(error)).toBe(true);
  });
});

describe('scripts', () => {
  it('run by their hash, and again after the server forgot them', async () => {
    const sum = defineScript('test_sum', 'return redis.call("INCRBY", KEYS[1], ARGV[1])');
    expect(await sum(redis, ['n'], [2])).toBe(2);
    await redis.script('FLUSH');
    expect(await sum(redis, ['n'], [3])).toBe(5);
  });
});
