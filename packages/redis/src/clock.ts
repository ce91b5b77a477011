import type { Redis } from 'ioredis';

/**
 * Milliseconds since 1970 on the clock of Redis: the one that all processes share, so that times which several of
 * them write and compare do not depend on the clocks of their machines.
 */
export async function redisNow(redis: Redis): Promise<number> {
  return millisecondsOf(await redis.time());
}

/** The reply of `TIME`, seconds and microseconds, in milliseconds. */
export function millisecondsOf([seconds, microseconds]: (string | number)[]): number {
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
