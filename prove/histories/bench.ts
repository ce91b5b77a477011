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
import { startBreakableWay } from './breakable.ts';
import { type ScriptedModel, startScriptedModel } from './model.ts';
import { GATEWAYS, type Script } from './script.ts';
import { lag, SlowStore } from './slow-store.ts';

/** Changes a part of the gateway into a faulty one, to see whether the check finds it. */
export type Mutation = (parts: GatewayParts, redis: Redis) => GatewayParts;

/** Gateways in this process over one real Redis, with a scripted model and a scripted engine. */
export interface Bench {
  ports: number[];
  redis: Redis;
  reviews: ReviewStore;
  tasks: TaskStore;
  model: ScriptedModel;
  /** What the engine says of this workflow's run. */
  engines: Map<string, ScriptedEngine>;
  /** When the connections of a gateway were broken off, in milliseconds of the clock that never goes back. */
  breaks: number[];
  /** Breaks the connections of a gateway to Redis, after its replies were lost for so many milliseconds. */
  breakOff(gateway: number, silentMs: number): void;
  /** Longest wait in milliseconds for a decision to be told. */
  deliverMs: number;
  strategies: ReturnType<typeof loadStrategies>;
  stop(): Promise<void>;
}

/** A decision is known to the workflow within this time, in milliseconds. */
const DELIVER_MS = 30_000;

/** What becomes of signals to a workflow. */
export interface ScriptedEngine {
  says: Script['engine'];
  /** A signal has reached the workflow. */
  signalled(): void;
}

export async function startBench(
  mutation: Mutation = (parts) => parts,
  deliverMs = DELIVER_MS,
): Promise<Bench> {
  // Nothing of it has to survive; waiting for the disk would only make it slow.
  const server: RedisServer = await startRedis({ args: ['--appendonly', 'no'] });
  const redis = connectRedis(server.url);
  const model = await startScriptedModel();
  const strategies = loadStrategies(configFile('research_strategies.yaml'));
  const engines: Bench['engines'] = new Map();
  const ways = await Promise.all(Array.from({ length: GATEWAYS }, () => startBreakableWay(server.port)));
  const connections = ways.map(({ url }) => connectRedis(url));
  const gateways = await Promise.all(
    connections.map((connection, at) =>
      startGateway({
        settings: Settings.parse({
          gateway: { port: 0, skip_auth: true },
          redis: { url: ways[at]?.url },
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
          const reviews = new SlowStore(connection);
          return mutation({ ...parts, engine, deliver, lock, reviews }, connection);
        },
      }),
    ),
  );
  const breaks: number[] = [];
  await until(() => [redis, ...connections].every(({ status }) => status === 'ready'));
  return {
    ports: gateways.map(({ url }) => Number(new URL(url).port)),
    redis,
    reviews: new ReviewStore(redis),
    tasks: new TaskStore(redis),
    model,
    engines,
    deliverMs,
    breaks,
    breakOff(gateway, silentMs) {
      breaks.push(performance.now());
      ways[gateway]?.breakOff(silentMs);
    },
    strategies,
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await model.stop();
      for (const connection of [redis, ...connections]) connection.disconnect();
      await Promise.all(ways.map((way) => way.stop()));
      await server.stop();
    },
  };
}

function scriptedEngine(engines: Bench['engines']): Pick<Engine, 'signal' | 'describeRun'> {
  return {
    signal: async (id: WorkflowId) => {
      const engine = engines.get(id);
      await new Promise((resolve) => setImmediate(resolve));
      if (engine?.says === 'over') return 'not_found';
      if (engine?.says !== 'sent') return 'unreachable';
      engine.signalled();
      return 'sent';
    },
    describeRun: async () => 'unreachable',
  };
}
