import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedis } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { type Checkpointer, Command, MemoryCheckpointer } from '../src/agent/index.ts';
import { RedisCheckpointer } from '../src/checkpoint/redis.ts';
import { EMAIL, email, rig } from './rig.ts';

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url);
  await until(() => redis.status === 'ready');
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

let threads = 0;
const newThread = () => `thread ${++threads} {x}:\u00e9`;
const first = { expected: null, revision: 'r1', state: '{"n":1}', holdMs: 0 };

describe.each<[string, () => Checkpointer]>([
  ['memory', () => new MemoryCheckpointer()],
  ['Redis', () => new RedisCheckpointer(redis)],
])('a checkpointer: %s', (_, make) => {
  test('an unknown thread is null', async () => {
    expect(await make().load(newThread())).toBeNull();
  });

  test('what was saved is loaded, to the letter', async () => {
    const kept = make();
    const thread = newThread();
    const state = JSON.stringify({ text: 'Grüße 你好 \u0000 \ud800', deep: { a: [null, 1.5] } });
    expect(await kept.save(thread, { ...first, state })).toBe(true);
    expect(await kept.load(thread)).toEqual({ revision: 'r1', state, heldMs: 0 });
  });

  test('a save that expects another revision changes nothing', async () => {
    const kept = make();
    const thread = newThread();
    await kept.save(thread, first);
    expect(await kept.save(thread, { ...first, revision: 'r2', state: '{"n":2}' })).toBe(false);
    expect(await kept.save(thread, { ...first, expected: 'r0', revision: 'r2', state: '{"n":2}' })).toBe(
      false,
    );
    expect(await kept.load(thread)).toMatchObject({ revision: 'r1', state: '{"n":1}' });
    expect(await kept.save(thread, { ...first, expected: 'r1', revision: 'r2', state: '{"n":2}' })).toBe(
      true,
    );
    expect(await kept.load(thread)).toMatchObject({ revision: 'r2', state: '{"n":2}' });
  });

  test('a save that expects a thread which does not exist changes nothing', async () => {
    const kept = make();
    const thread = newThread();
    expect(await kept.save(thread, { ...first, expected: 'r0' })).toBe(false);
    expect(await kept.load(thread)).toBeNull();
  });

  test('a save that is repeated, because its reply was lost, is known', async () => {
    const kept = make();
    const thread = newThread();
    expect(await kept.save(thread, first)).toBe(true);
    expect(await kept.save(thread, first)).toBe(true);
  });

  test('of 50 saves at once exactly one comes through', async () => {
    const kept = make();
    const thread = newThread();
    const saves = Array.from({ length: 50 }, (_, i) =>
      kept.save(thread, { ...first, revision: `r${i}`, state: `{"n":${i}}` }),
    );
    const through = (await Promise.all(saves)).flatMap((saved, i) => (saved ? [i] : []));
    expect(through).toHaveLength(1);
    expect(await kept.load(thread)).toMatchObject({ state: `{"n":${through[0]}}` });
  });

  test('a thread is held for as long as was said, and freed by 0', async () => {
    const kept = make();
    const thread = newThread();
    await kept.save(thread, { ...first, holdMs: 60_000 });
    const { heldMs } = (await kept.load(thread)) ?? { heldMs: 0 };
    expect(heldMs).toBeGreaterThan(0);
    expect(heldMs).toBeLessThanOrEqual(60_000);
    await kept.save(thread, { ...first, expected: 'r1', revision: 'r2' });
    expect(await kept.load(thread)).toMatchObject({ heldMs: 0 });
    await kept.save(thread, { ...first, expected: 'r2', revision: 'r3', holdMs: 30 });
    await until(async () => (await kept.load(thread))?.heldMs === 0);
  });

  test('threads do not touch each other', async () => {
    const kept = make();
    const [a, b] = [newThread(), newThread()];
    await kept.save(a, first);
    await kept.save(b, { ...first, revision: 'other', state: '{"n":2}' });
    expect(await kept.load(a)).toMatchObject({ revision: 'r1', state: '{"n":1}' });
    expect(await kept.load(b)).toMatchObject({ revision: 'other', state: '{"n":2}' });
  });

  test('an agent works on it: review, another agent object, edit, answer', async () => {
    const checkpointer = make();
    const thread = newThread();
    const configurable = { thread_id: thread };
    const one = rig([{ tool_calls: [email()] }], { checkpointer });
    await one.agent.invoke({ messages: ['go'] }, { configurable });
    const two = rig([], { checkpointer });
    const edited_action = { name: 'send_email', args: { ...EMAIL, subject: 'Moved' } };
    const resume = { decisions: [{ type: 'edit', edited_action }] };
    const { messages } = await two.agent.invoke(new Command({ resume }), { configurable });
    expect(messages.at(-1)).toMatchObject({ content: 'Done.' });
    expect(two.runs).toMatchObject([{ args: edited_action.args, threadId: thread }]);
  });
});

describe('Redis', () => {
  test('one hash for each thread, in a slot of its own', async () => {
    await redis.flushdb();
    const kept = new RedisCheckpointer(redis);
    await rig([{ tool_calls: [email()] }], { checkpointer: kept }).say('go');
    expect(await redis.keys('*')).toEqual([kept.keyOf('thread')]);
    expect(await redis.type(kept.keyOf('thread'))).toBe('hash');
    expect(kept.keyOf('a}b{c')).not.toMatch(/\{.*[{}].*\}/);
  });

  test('without ttlSeconds a thread stays, with it each step starts it anew, and none ends within a turn', async () => {
    await new RedisCheckpointer(redis).save('stays', first);
    expect(await redis.pttl(new RedisCheckpointer(redis).keyOf('stays'))).toBe(-1);
    const kept = new RedisCheckpointer(redis, { ttlSeconds: 100 });
    await kept.save('goes', first);
    await redis.pexpire(kept.keyOf('goes'), 5_000);
    await kept.save('goes', { ...first, expected: 'r1', revision: 'r2' });
    expect(await redis.pttl(kept.keyOf('goes'))).toBeGreaterThan(50_000);
    await kept.save('works', { ...first, holdMs: 60_000 });
    expect(await redis.pttl(kept.keyOf('works'))).toBeGreaterThan(150_000);
    expect(() => new RedisCheckpointer(redis, { ttlSeconds: -1 })).toThrow(RangeError);
  });

  test('H15 a pending review survives a restart of Redis and of the agent', async () => {
    const own = await mkdtemp(join(tmpdir(), 'tool-approval-'));
    const before = await startRedis({ dir: own });
    const one = connectRedis(before.url);
    await until(() => one.status === 'ready');
    const shown = await rig([{ tool_calls: [email()] }], { checkpointer: new RedisCheckpointer(one) }).say(
      'go',
    );
    one.disconnect();
    await before.stop();
    const after = await startRedis({ dir: own });
    const two = connectRedis(after.url);
    await until(() => two.status === 'ready');
    const { state, decide, runs } = rig([], { checkpointer: new RedisCheckpointer(two) });
    expect((await state()).interrupts).toEqual(shown.__interrupt__);
    await decide([{ type: 'approve' }]);
    expect(runs).toMatchObject([{ args: EMAIL }]);
    two.disconnect();
    await after.stop();
  });
});
