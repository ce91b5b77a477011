import { readFileSync } from 'node:fs';
import { defineScript } from '@plangate/redis';
import type { Redis } from 'ioredis';

const swap = defineScript(
  'http_idempotency_swap',
  readFileSync(new URL('./swap.lua', import.meta.url), 'utf8'),
);

/** Values under Idempotency-Keys; every change compares first. Methods fail with the error of Redis. */
export interface IdempotencyStore {
  /** Writes `value` where there is none; returns the one that stands there already, else null. */
  take(key: string, value: string, ttlMs: number): Promise<string | null>;
  /** Puts `next` (null: nothing) in the place of `expected`; false where something else stands there. */
  swap(key: string, expected: string, next: string | null, ttlMs: number): Promise<boolean>;
  read(key: string): Promise<string | null>;
  write(key: string, value: string, ttlMs: number): Promise<void>;
}

export function idempotencyStore(redis: Redis): IdempotencyStore {
  return {
    take: (key, value, ttlMs) => redis.set(key, value, 'PX', ttlMs, 'NX', 'GET'),
    swap: async (key, expected, next, ttlMs) =>
      (await swap(redis, [key], [expected, next ?? '', ttlMs])) === 1,
    read: (key) => redis.get(key),
    async write(key, value, ttlMs) {
      await redis.set(key, value, 'PX', ttlMs);
    },
  };
}
