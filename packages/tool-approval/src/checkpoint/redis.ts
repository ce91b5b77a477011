import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { defineScript, isRedisUnavailable } from '@plangate/redis';
import type { Redis } from 'ioredis';
import type { Checkpoint, Checkpointer, CheckpointSave } from './checkpointer.ts';

const save = defineScript('tool_approval_save', readFileSync(new URL('./save.lua', import.meta.url), 'utf8'));

/** Waits between the tries of a save, in milliseconds. */
const PAUSES_MS = [100, 400];

export interface RedisCheckpointerOptions {
  /** Seconds after its last turn at which a thread is forgotten, a pending review with it; default: never. */
  ttlSeconds?: number;
  /** What the keys begin with. */
  prefix?: string;
}

/** Keeps threads in Redis 7 or later, one hash each; plain commands, no modules. */
export class RedisCheckpointer implements Checkpointer {
  readonly #redis: Redis;
  readonly #ttlMs: number;
  readonly #prefix: string;

  constructor(redis: Redis, { ttlSeconds = 0, prefix = 'tool-approval' }: RedisCheckpointerOptions = {}) {
    if (!Number.isFinite(ttlSeconds) || ttlSeconds < 0) throw new RangeError('ttlSeconds is a number from 0');
    this.#redis = redis;
    this.#ttlMs = Math.ceil(ttlSeconds * 1_000);
    this.#prefix = prefix;
  }

  /** The key of a thread. */
  keyOf(threadId: string): string {
    return `${this.#prefix}:{${encodeURIComponent(threadId.toWellFormed())}}`;
  }

  async load(threadId: string): Promise<Checkpoint | null> {
    const replies = await this.#redis
      .multi()
      .time()
      .hmget(this.keyOf(threadId), 'revision', 'state', 'held_until')
      .exec();
    const [time, fields] = (replies ?? []).map(([error, value]) => {
      if (error) throw error;
      return value;
    }) as [[string, string], (string | null)[]];
    const [revision, state, heldUntil] = fields;
    if (typeof revision !== 'string' || typeof state !== 'string') return null;
    const now = Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000);
    return { revision, state, heldMs: Math.max(0, Number(heldUntil) - now) };
  }

  /** Tried again where Redis was away: a result of a call is not given up lightly. */
  async save(threadId: string, { expected, revision, state, holdMs }: CheckpointSave): Promise<boolean> {
    const args = [expected ?? '', revision, state, Math.ceil(holdMs), this.#ttlMs];
    for (let attempt = 0; ; attempt += 1) {
      try {
        return (await save(this.#redis, [this.keyOf(threadId)], args)) === 1;
      } catch (error) {
        const pause = PAUSES_MS[attempt];
        if (pause === undefined || !isRedisUnavailable(error)) throw error;
        await wait(pause);
      }
    }
  }
}
