import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { until } from './until.ts';

/** What Redis holds, looked at and spoilt from outside of the product. */
export interface Stored {
  redis: Redis;
  /** Every key of a workflow with what it holds, byte for byte. */
  dump(id: string): Promise<Record<string, string>>;
  /** Puts something of another type under `key`, whatever the product keeps there; `undo` puts that back. */
  spoilType(key: string): Promise<{ undo: () => Promise<void> }>;
  /** Changes fields of a hash, null removes one; `undo` puts all back. */
  spoilFields(
    key: string,
    fields: Record<string, string | Buffer | null>,
  ): Promise<{ undo: () => Promise<void> }>;
  close(): void;
}

export async function openStored(url: string): Promise<Stored> {
  const redis = connectRedis(url);
  await until(() => redis.status === 'ready');

  async function keep(key: string): Promise<{ undo: () => Promise<void> }> {
    const before = await redis.dumpBuffer(key);
    return {
      async undo() {
        await redis.del(key);
        if (before) await redis.restore(key, 0, before);
      },
    };
  }

  return {
    redis,
    async dump(id) {
      const keys = (await redis.keys(`*{${id}}*`)).sort();
      const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
      return Object.fromEntries(keys.map((key, at) => [key, dumps[at]?.toString('base64') ?? '']));
    },
    async spoilType(key) {
      const kept = await keep(key);
      const isString = (await redis.type(key)) === 'string';
      await redis.del(key);
      if (isString) await redis.hset(key, 'not', 'a string');
      else await redis.set(key, 'of another type');
      return kept;
    },
    async spoilFields(key, fields) {
      const kept = await keep(key);
      for (const [field, value] of Object.entries(fields)) {
        if (value === null) await redis.hdel(key, field);
        else await redis.hset(key, field, value);
      }
      return kept;
    },
    close: () => redis.disconnect(),
  };
}
