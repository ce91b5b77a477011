import { parseWorkflowId, type WorkflowId } from '@plangate/contracts';
import { type RedisServer, startRedis } from '@plangate/devstack';
import { EventHub, EventLog, type KeyedEvent } from '@plangate/events/redis';
import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';

let count = 0;

/** A workflow id that no other test of this run uses. */
export function newWorkflow(): WorkflowId {
  count += 1;
  return parseWorkflowId(`task-${process.pid}-${count}`)!;
}

/** Event number `n` of a kind that may trim the log. */
export function step(n: number, more: Partial<KeyedEvent> = {}): KeyedEvent {
  return { type: 'PROGRESS', agent_id: 'researcher', message: `step ${n}`, ...more };
}

export const END: KeyedEvent = { type: 'STREAM_END', agent_id: 'orchestrator', message: '', key: 'end' };

/** A Redis server and all that is connected to it. */
export async function startLogs() {
  const server: RedisServer = await startRedis();
  const open: { redis: Redis[]; hubs: EventHub[] } = { redis: [], hubs: [] };
  const connect = async () => {
    const redis = connectRedis(server.url);
    open.redis.push(redis);
    await new Promise((resolve) => redis.once('ready', resolve));
    return redis;
  };
  const redis = await connect();
  return {
    server,
    redis,
    connect,
    log: (keep = 1_000) => new EventLog(redis, { keep }),
    hub(log: EventLog, options: { safetyMs?: number; retryMs?: number } = {}) {
      const hub = new EventHub({ log, subscriber: redis, ...options });
      open.hubs.push(hub);
      return hub;
    },
    async stop() {
      for (const hub of open.hubs) hub.close();
      for (const connection of open.redis) connection.disconnect();
      await server.stop();
    },
  };
}
export type Logs = Awaited<ReturnType<typeof startLogs>>;

/** Polls until `condition` holds. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
