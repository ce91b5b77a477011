/**
 * Decides about a pending review and hangs in the tool that was named, until it is killed.
 * Arguments: URL of Redis, thread, id of the call to hang in.
 */
import { connectRedis } from '@plangate/redis';
import { Command } from '../../src/agent/index.ts';
import { RedisCheckpointer } from '../../src/checkpoint/redis.ts';
import { email, rig, weather } from '../rig.ts';

const [url = '', thread = '', hangIn = ''] = process.argv.slice(2);
const redis = connectRedis(url);
await new Promise((resolve) => redis.once('ready', resolve));
const { agent } = rig(
  [
    {
      tool_calls: [
        weather('first', 'a'),
        email({ to: 'second@example.com', subject: 's', body: 'b' }, 'b'),
        email({ to: 'third@example.com', subject: 's', body: 'b' }, 'c'),
      ],
    },
  ],
  {
    checkpointer: new RedisCheckpointer(redis),
    holdMs: 500,
    onRun: async ({ callId }) => {
      await redis.rpush(`runs:${thread}`, callId);
      if (callId === hangIn) await new Promise(() => setInterval(() => {}, 1_000));
    },
  },
);
const config = { configurable: { thread_id: thread } };
await agent.invoke({ messages: ['go'] }, config);
await agent.invoke(
  new Command({ resume: { decisions: [{ type: 'approve' }, { type: 'approve' }] } }),
  config,
);
redis.disconnect();
