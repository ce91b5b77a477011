import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type App, type AppName, startApp } from './apps.ts';
import { dataFolder } from './data-folder.ts';
import { external, type RedisPart, type TemporalPart } from './external.ts';
import { freePort } from './free-port.ts';
import { startRedis } from './redis.ts';
import type { Crash, Server } from './server.ts';
import { startTemporal } from './temporal.ts';
import { together } from './together.ts';

/** What plan review needs. */
const APPS: AppName[] = ['llm-service', 'orchestrator', 'gateway'];
/** The whole product. */
export const ALL_APPS: AppName[] = [...APPS, 'approval-agent'];

export interface StackOptions {
  /** Keeps data and logs here, for the next start; default: a temporary folder, removed by `stop`. */
  folder?: string;
  /** Default: free ones. */
  ports?: {
    gateway?: number;
    approvalAgent?: number;
    llmService?: number;
    redis?: number;
    temporal?: number;
  };
  /** A Redis that runs already. */
  redisUrl?: string;
  /** A Temporal server that runs already, `host:port`. */
  temporalAddress?: string;
  /** Default: one of its own, so that stacks can share a Temporal server. */
  taskQueue?: string;
  /** An llm-service that runs already, or a stand-in; the product's own is not started then. */
  llmUrl?: string;
  /** The apps to start; default: all that plan review needs, without the approval agent. */
  apps?: AppName[];
  /** Settings of the apps, by the names of their environment variables; they win. Default: the offline model. */
  env?: Record<string, string>;
  /** A file instead of `config/plangate.yaml`. */
  settingsFile?: string;
  /** No credentials needed; default: true. */
  skipAuth?: boolean;
  /** Paths of the programs, where they are not to be looked for. */
  commands?: { redis?: string; temporal?: string };
  /** Gives the start up and stops what is there. */
  signal?: AbortSignal;
  /** Told of every part that is ready. */
  onReady?(name: string, milliseconds: number, pid: number): void;
  onCrash?: (crash: Crash) => void;
}

/** The whole product, running. */
export interface Stack {
  readonly gatewayUrl: string;
  readonly approvalUrl: string;
  readonly llmUrl: string;
  readonly redis: RedisPart;
  readonly temporal: TemporalPart;
  /** Reading an app that was left out throws. */
  readonly apps: {
    readonly gateway: App;
    readonly orchestrator: App;
    readonly llmService: App;
    readonly approvalAgent: App;
  };
  /** The settings that the apps were started with, for further instances of them. */
  readonly env: Record<string, string>;
  /** Stops everything that was started here, the last first; safe to call again. */
  stop(): Promise<void>;
}

/**
 * Starts Redis, Temporal and the apps and waits until all are ready.
 * @throws {Error} of the first part that did not start; everything else is stopped by then
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const folder = dataFolder(options.folder, 'stack');
  const started: Server[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopAll(started).finally(folder.release);
    return stopping;
  };
  try {
    return { ...(await startParts(options, folder.path, started)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  options: StackOptions,
  folder: string,
  started: Server[],
): Promise<Omit<Stack, 'stop'>> {
  const { redisUrl, temporalAddress, ports = {}, commands = {}, signal } = options;
  const log = (name: string) => join(folder, 'logs', `${name}.log`);
  const common = (name: string, signal: AbortSignal) => ({
    logFile: log(name),
    signal,
    onCrash: options.onCrash,
  });
  async function ready<T extends Server>(name: string, start: Promise<T>): Promise<T> {
    const began = performance.now();
    const server = await start;
    started.push(server);
    options.onReady?.(name, performance.now() - began, server.pid);
    return server;
  }

  let redis: RedisPart = external('Redis', { url: redisUrl ?? '' });
  let temporal: TemporalPart = external('Temporal', { address: temporalAddress ?? '' });
  const startOwnRedis = async (signal: AbortSignal) => {
    const own = { port: ports.redis, command: commands.redis, dir: join(folder, 'redis') };
    redis = await ready('Redis', startRedis({ ...own, ...common('redis', signal) }));
  };
  const startOwnTemporal = async (signal: AbortSignal) => {
    const dbFile = options.folder === undefined ? undefined : join(folder, 'temporal.db');
    const own = { port: ports.temporal, command: commands.temporal, dbFile };
    temporal = await ready('Temporal', startTemporal({ ...own, ...common('temporal', signal) }));
  };
  await together(
    [
      ...(redisUrl === undefined ? [startOwnRedis] : []),
      ...(temporalAddress === undefined ? [startOwnTemporal] : []),
    ],
    signal,
  );

  const env = await settings(options, folder, redis.url, temporal.address);
  const apps = new Map<AppName, App>();
  const wanted = (options.apps ?? APPS).filter((name) => name !== 'llm-service' || !options.llmUrl);
  await together(
    wanted.map((name) => async (signal) => {
      apps.set(name, await ready(name, startApp(name, { env, ...common(name, signal) })));
    }),
    signal,
  );
  return {
    gatewayUrl: `http://127.0.0.1:${env['GATEWAY_PORT']}`,
    approvalUrl: `http://127.0.0.1:${env['APPROVAL_AGENT_PORT']}`,
    llmUrl: env['LLM_SERVICE_URL'] ?? '',
    redis,
    temporal,
    apps: named(apps),
    env,
  };
}

/** The settings of the apps of one stack. */
async function settings(
  options: StackOptions,
  folder: string,
  redisUrl: string,
  temporalAddress: string,
): Promise<Record<string, string>> {
  const llmPort = options.ports?.llmService ?? (await freePort());
  return {
    GATEWAY_PORT: String(options.ports?.gateway ?? (await freePort())),
    GATEWAY_SKIP_AUTH: options.skipAuth === false ? '0' : '1',
    APPROVAL_AGENT_PORT: String(options.ports?.approvalAgent ?? (await freePort())),
    APPROVAL_AGENT_SKIP_AUTH: options.skipAuth === false ? '0' : '1',
    APPROVAL_AGENT_OUTBOX: join(folder, 'outbox'),
    LLM_SERVICE_PORT: String(llmPort),
    LLM_SERVICE_URL: options.llmUrl ?? `http://127.0.0.1:${llmPort}`,
    REDIS_URL: redisUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE: options.taskQueue ?? `plangate-${randomUUID()}`,
    MODEL_PROVIDER: 'offline',
    ...(options.settingsFile === undefined ? {} : { PLANGATE_CONFIG: options.settingsFile }),
    ...options.env,
  };
}

function named(apps: Map<AppName, App>): Stack['apps'] {
  const app = (name: AppName): App => {
    const found = apps.get(name);
    if (!found) throw new Error(`${name} was left out of this stack`);
    return found;
  };
  return {
    get gateway() {
      return app('gateway');
    },
    get orchestrator() {
      return app('orchestrator');
    },
    get llmService() {
      return app('llm-service');
    },
    get approvalAgent() {
      return app('approval-agent');
    },
  };
}

/** Apps first and side by side, then what they stand on. */
async function stopAll(started: Server[]): Promise<void> {
  const isApp = (server: Server) => (ALL_APPS as string[]).includes(server.name);
  await Promise.all(started.filter(isApp).map((server) => server.stop()));
  await Promise.all(started.filter((server) => !isApp(server)).map((server) => server.stop()));
}
