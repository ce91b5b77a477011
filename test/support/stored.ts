import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { until } from './until.ts';

/** What Redis holds, looked at and spoilt from outside of the product. */
export interface Stored {
  redis: Redis;
  /** Every key of a workflow with all that it holds. */
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

/** As text, in an order that is always the same: DUMP gives the fields of a hash in the order of their buckets. */
async function contentOf(redis: Redis, key: string): Promise<string> {
  const type = await redis.type(key);
  if (type === 'hash') {
    const fields = Object.entries(await redis.hgetallBuffer(key));
    return JSON.stringify(fields.map(([field, value]) => [field, value.toString('latin1')]).sort());
  }
  if (type === 'list') return JSON.stringify(await redis.lrange(key, 0, -1));
  if (type === 'stream') return JSON.stringify(await redis.xrange(key, '-', '+'));
  return JSON.stringify([type, await redis.get(key)]);
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
      const contents = await Promise.all(keys.map((key) => contentOf(redis, key)));
      return Object.fromEntries(keys.map((key, at) => [key, contents[at] ?? '']));
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
