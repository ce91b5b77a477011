import { once } from 'node:events';
import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { afterAll, beforeEach } from 'vitest';
import { type RedisServer, startRedis } from './redis.ts';

/** A Redis that only the tests of one file use, and a connection to it. */
export interface FileRedis {
  server: RedisServer;
  redis: Redis;
}

/**
 * Starts a Redis for the tests of a file; it ends after them. Called at the top of the file:
 *
 * ```ts
 * const { redis } = await redisForFile({ flush: true });
 * ```
 * @param options.flush every test begins with an empty Redis
 */
export async function redisForFile({ flush = false }: { flush?: boolean } = {}): Promise<FileRedis> {
  const server = await startRedis();
  const redis = connectRedis(server.url);
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  await once(redis, 'ready');
  if (flush) beforeEach(() => redis.flushall().then(() => undefined));
  return { server, redis };
}
