import { redisForFile } from '@plangate/devstack/vitest-redis';
import { describe, expect, it } from 'vitest';
import {
  defineScript,
  faultAt,
  isRedisUnavailable,
  isUnreadable,
  keysOf,
  readStored,
  redisNow,
  UnreadableStateError,
} from '../src/index.ts';

const { redis } = await redisForFile();

async function faultOf(operation: () => Promise<unknown>): Promise<Error> {
  try {
    await operation();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it went well');
}

describe('what is stored and cannot be read', () => {
  it('names its key and the place, and never what stands there', () => {
    const secret = '{"name": "a person wrote this';
    const read = (text: string) => () => {
      const value = JSON.parse(text) as { name?: unknown } | null;
      if (typeof value?.name === 'string') return value;
      // As zod tells it.
      throw Object.assign(new Error(secret), { issues: [{ path: ['name'], message: 'expected string' }] });
    };
    const faults = [secret, '{"name": 7}', 'null'].map((text) => {
      try {
        return readStored('review:1', read(text));
      } catch (error) {
        return error as Error;
      }
    });
    for (const fault of faults) {
      expect(fault).toBeInstanceOf(UnreadableStateError);
      expect(isUnreadable(fault)).toBe(true);
      expect(keysOf(fault)).toEqual(['review:1']);
      expect((fault as Error).message).not.toContain('person');
    }
    expect((faults[1] as Error).message).toContain('name');
    expect(readStored('review:1', read('{"name": "x"}'))).toEqual({ name: 'x' });
  });

  it('a value of another type is unreadable, with its key, from a command, a transaction and a script', async () => {
    await redis.set('text', 'a');
    const command = await faultOf(() => redis.hgetall('text'));
    const script = defineScript('test_wrong_type', 'return redis.call("HGET", KEYS[1], ARGV[1])');
    const scripted = await faultOf(() => script(redis, ['text', 'other'], ['field']));
    const inside = (await redis.multi().hget('text', 'f').exec())?.[0]?.[0] as Error;
    expect([command, scripted, inside].map(isUnreadable)).toEqual([true, true, true]);
    expect([command, scripted, faultAt('text', inside)].map(keysOf)).toEqual([
      ['text'],
      ['text', 'other'],
      ['text'],
    ]);
    expect([command, scripted, inside].some(isRedisUnavailable)).toBe(false);
  });

  it('other faults are not', () => {
    for (const fault of [new TypeError('x'), new Error('OOM command not allowed'), null, 'WRONGTYPE x']) {
      expect(isUnreadable(fault)).toBe(false);
      expect(keysOf(fault)).toEqual([]);
    }
  });
});

describe('a replica that may not serve what it has', () => {
  it('is unavailable, for a transaction too', async () => {
    await redis.config('SET', 'replica-serve-stale-data', 'no');
    await redis.replicaof('127.0.0.1', 1);
    try {
      const faults = [
        await faultOf(() => redis.get('x')),
        await faultOf(() => redis.multi().time().get('x').exec()),
      ];
      expect(faults[1]?.message).toMatch(/^EXECABORT/);
      expect(faults.map(isRedisUnavailable)).toEqual([true, true]);
    } finally {
      await redis.replicaof('NO', 'ONE');
    }
    expect((await redis.multi().time().get('x').exec())?.[1]).toEqual([null, null]);
  });

  it('a transaction that is discarded because of our own mistake is not', async () => {
    const fault = await faultOf(() => redis.multi().call('HSET', 'x').exec() as Promise<unknown>);
    expect(fault.message).toMatch(/^EXECABORT/);
    expect(isRedisUnavailable(fault)).toBe(false);
  });
});

it('the clock of Redis is in milliseconds', async () => {
  const before = await redisNow(redis);
  expect(Number.isInteger(before)).toBe(true);
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000);
});
