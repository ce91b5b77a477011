import type { WorkflowId } from '@plangate/contracts';
import { type RedisServer, startRedis } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import { ReviewStore } from '@plangate/review/redis';
import { configFile, loadStrategies, Settings } from '@plangate/service';
import { TaskStore } from '@plangate/tasks/redis';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { createDeliver } from '../../apps/gateway/src/deliver.ts';
import type { Engine } from '../../apps/gateway/src/engine.ts';
import type { GatewayParts } from '../../apps/gateway/src/parts.ts';
import { startGateway } from '../../apps/gateway/src/start.ts';
import { until } from '../../test/support/until.ts';
import { type ScriptedModel, startScriptedModel } from './model.ts';
import type { Script } from './script.ts';
import { lag, SlowStore } from './slow-store.ts';

/** Changes a part of the gateway into a faulty one, to see whether the check finds it. */
export type Mutation = (parts: GatewayParts, redis: Redis) => GatewayParts;

/** A gateway in this process over a real Redis, with a scripted model and a scripted engine. */
export interface Bench {
  port: number;
  redis: Redis;
  reviews: ReviewStore;
  tasks: TaskStore;
  model: ScriptedModel;
  /** What the engine says of this workflow's run. */
  engines: Map<string, Script['engine']>;
  strategies: ReturnType<typeof loadStrategies>;
  stop(): Promise<void>;
}

export async function startBench(mutation: Mutation = (parts) => parts): Promise<Bench> {
  // Nothing of it has to survive; waiting for the disk would only make it slow.
  const server: RedisServer = await startRedis({ args: ['--appendonly', 'no'] });
  const redis = connectRedis(server.url);
  const model = await startScriptedModel();
  const strategies = loadStrategies(configFile('research_strategies.yaml'));
  const engines = new Map<string, Script['engine']>();
  const gateway = await startGateway({
    settings: Settings.parse({
      gateway: { port: 0, skip_auth: true },
      redis: { url: server.url },
      llm_service: { url: model.url },
    }),
    presets: strategies,
    log: pino({ level: 'silent' }),
    version: '0.0.0',
    sweepIntervalMs: 100,
    adapt(parts) {
      const engine: Engine = { ...parts.engine, ...scriptedEngine(engines) };
      const deliver = createDeliver(engine, parts.tasks);
      const lock: GatewayParts['lock'] = (id) => lag().then(() => parts.lock(id));
      return mutation({ ...parts, engine, deliver, lock, reviews: new SlowStore(redis) }, redis);
    },
  });
  await until(() => redis.status === 'ready');
  return {
    port: Number(new URL(gateway.url).port),
    redis,
    reviews: new ReviewStore(redis),
    tasks: new TaskStore(redis),
    model,
    engines,
    strategies,
    async stop() {
      await gateway.stop();
      await model.stop();
      redis.disconnect();
      await server.stop();
    },
  };
}

function scriptedEngine(engines: Map<string, Script['engine']>): Pick<Engine, 'signal' | 'describeRun'> {
  return {
    signal: async (id: WorkflowId) => {
      const engine = engines.get(id) ?? 'away';
      await new Promise((resolve) => setImmediate(resolve));
      return engine === 'over' ? 'not_found' : engine === 'sent' ? 'sent' : 'unreachable';
    },
    describeRun: async () => 'unreachable',
  };
}
