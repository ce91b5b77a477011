import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type RedisServer, startRedis } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { RedisCheckpointer } from '../src/checkpoint/redis.ts';
import { type RigOptions, rig } from './rig.ts';

const PROGRAM = fileURLToPath(new URL('./programs/dying-agent.ts', import.meta.url));

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

/** Lets a process approve two calls beside a free one, and kills it while it is in the one that is named. */
async function killedIn(call: 'a' | 'b' | 'c'): Promise<string> {
  const thread = crypto.randomUUID();
  const child = spawn(process.execPath, [PROGRAM, server.url, thread, call], { stdio: 'ignore' });
  await until(async () => (await redis.lrange(`runs:${thread}`, 0, -1)).includes(call), 60_000);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const kept = new RedisCheckpointer(redis);
  await until(async () => (await kept.load(thread))?.heldMs === 0);
  return thread;
}

function survivor(thread: string, options: RigOptions = {}) {
  const parts = rig([], {
    checkpointer: new RedisCheckpointer(redis),
    onRun: ({ callId }) => redis.rpush(`runs:${thread}`, callId),
    ...options,
  });
  const config = { configurable: { thread_id: thread } };
  return { ...parts, config, runs: () => redis.lrange(`runs:${thread}`, 0, -1) };
}

const INTERRUPTED = { a: 'get_weather', b: 'send_email', c: 'send_email' };

describe('a process that is killed in the middle of a call', () => {
  test.each(['a', 'b', 'c'] as const)(
    'H17 H12 P61 in call %s: no call is repeated, each is answered, and the texts are distinct',
    async (call) => {
      const thread = await killedIn(call);
      const { agent, config, runs, requests } = survivor(thread);
      const { messages } = await agent.invoke(null, config);
      expect(await runs()).toEqual(['a', 'b', 'c']);
      expect(messages.at(-1)).toMatchObject({ content: 'Done.' });
      expect(requests).toHaveLength(1);
      const results = messages.flatMap((m) => (m.role === 'tool' ? [m] : []));
      expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(['a', 'b', 'c']);
      for (const { tool_call_id: id, content, status } of results) {
        if (id !== call) expect(status).toBe('success');
        else
          expect(content).toBe(`Error: ${INTERRUPTED[call]} was interrupted; it is unknown whether it ran.`);
        expect(content).not.toContain('rejected');
      }
    },
  );

  test('a new message settles what was left before it is said', async () => {
    const thread = await killedIn('b');
    const { agent, config, runs } = survivor(thread);
    const { messages } = await agent.invoke({ messages: ['Are you there?'] }, config);
    expect(await runs()).toEqual(['a', 'b', 'c']);
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
      'user',
      'assistant',
    ]);
  });

  test('of many survivors at once one goes on, and nothing runs twice', async () => {
    const thread = await killedIn('a');
    const survivors = Array.from({ length: 10 }, () => survivor(thread));
    await Promise.allSettled(survivors.map(({ agent, config }) => agent.invoke(null, config)));
    expect(await survivors[0]?.runs()).toEqual(['a', 'b', 'c']);
  });
});
