import type { StrategyPresets } from '@plangate/contracts';
import { EventHub, EventLog } from '@plangate/events/redis';
import {
  apiKeyStore,
  byCredential,
  createHttpServer,
  idempotencyStore,
  jwtVerifiers,
  listen,
  rateLimiter,
  skipAuth,
  stoppable,
} from '@plangate/http';
import { connectRedis, firstConnection, keysOf } from '@plangate/redis';
import { createFeedbackLock, ReviewStore } from '@plangate/review/redis';
import {
  createLlmClient,
  type Logger,
  PROJECT_FOLDER,
  requireLlmService,
  type Settings,
} from '@plangate/service';
import { SessionStore, TaskStore } from '@plangate/tasks/redis';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { monotonicFactory } from 'ulid';
import { createGateway } from './app.ts';
import { createDeliver } from './deliver.ts';
import { createEngine } from './engine.ts';
import type { GatewayParts } from './parts.ts';
import { pruning, Sweep, startSweeping } from './sweep.ts';
import { createWork } from './work.ts';

export interface GatewayOptions {
  settings: Settings;
  presets: StrategyPresets;
  log: Logger;
  version: string;
  /** Default: the one of the settings. */
  sweepIntervalMs?: number;
  /** How long running requests may take once the gateway stops, in milliseconds. */
  stopLimitMs?: number;
  /** Puts other parts in the place of some, so that faults can be proved to be found. */
  adapt?: (parts: GatewayParts) => GatewayParts;
}

export interface RunningGateway {
  url: string;
  /** What it serves, such as `GET /api/v1/tasks/{id}`. */
  routes: string[];
  /** Takes no new request, breaks streams off, lets what runs finish within the limit, and closes all connections. */
  stop(): Promise<void>;
}

/** Starts a gateway: it serves as soon as it listens, whether or not Redis and Temporal are there yet. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { settings, presets, log, version, stopLimitMs = 12_000, adapt = (parts) => parts } = options;
  const sweepIntervalMs = options.sweepIntervalMs ?? settings.sweep.interval_seconds * 1_000;
  const redis = connectRedis(settings.redis.url, {
    name: 'plangate-gateway',
    onError: (error) => log.warn({ reason: error.message }, 'redis'),
  });
  const tasks = new TaskStore(redis);
  const reviews = new ReviewStore(redis, {
    onRefusalUnrecorded: (error, workflowId) =>
      log.error({ workflow_id: workflowId, err: error, keys: keysOf(error) }, 'refusal not in the audit'),
  });
  const events = new EventLog(redis, { keep: settings.events.keep });
  const hub = new EventHub({
    log: events,
    subscriber: redis,
    onError: (error) => log.warn({ reason: error.message }, 'redis subscription'),
  });
  const { address, namespace, task_queue } = settings.temporal;
  const engine = createEngine({ address, namespace, taskQueue: task_queue, log });
  const deliver = createDeliver(engine, tasks);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const work = createWork();
  const stopping = new AbortController();
  const parts = adapt({
    settings,
    presets,
    log,
    version,
    authenticator: settings.gateway.skip_auth
      ? skipAuth
      : byCredential(apiKeyStore(redis).verify, ...jwtVerifiers(settings.jwt, PROJECT_FOLDER)),
    tasks,
    sessions: new SessionStore(redis),
    reviews,
    events,
    hub,
    idempotency: idempotencyStore(redis),
    limit: rateLimiter(redis, settings.rate_limits, {
      onFault: (error) => log.warn({ reason: error.message }, 'requests are not counted'),
    }),
    engine,
    llm: createLlmClient(settings.llm_service.url, settings.review.model_timeout_seconds),
    lock: createFeedbackLock(redis, {
      ttlMs: settings.review.lock_ttl_seconds * 1_000,
      onFault: (fault, error) => log.warn({ fault, err: error }, 'feedback lock'),
    }),
    deliver,
    newId: monotonicFactory(),
    metrics,
    checks: {
      redis: () => redis.ping(),
      temporal: () => engine.check(),
      'llm-service': () => requireLlmService(settings.llm_service.url),
    },
    work,
    stopping: stopping.signal,
  });
  const gateway = createGateway(parts);
  const server = createHttpServer(gateway.handler);
  const stopper = stoppable(server, { limitMs: stopLimitMs });
  stopper.onStop(() => {
    stopping.abort();
    gateway.streams.close();
  });

  const close = async () => {
    hub.close();
    metrics.clear();
    redis.disconnect();
    await engine.close();
  };
  await firstConnection(redis);
  let url: string;
  try {
    url = await listen(server, settings.gateway);
  } catch (error) {
    gateway.streams.close();
    await close();
    throw error;
  }
  const sweep = new Sweep({
    tasks: parts.tasks,
    reviews: parts.reviews,
    events: parts.events,
    engine: parts.engine,
    deliver: parts.deliver,
    keepEventsSeconds: settings.events.keep_seconds,
    log,
    patienceMs: settings.sweep.patience_seconds * 1_000,
    overdueMs: settings.sweep.overdue_seconds * 1_000,
  });
  const stopSweeping = startSweeping(sweep, { intervalMs: sweepIntervalMs, log });
  const stopPruning = startSweeping(pruning(parts.tasks), { intervalMs: sweepIntervalMs, log });

  return {
    url,
    routes: gateway.routes,
    async stop() {
      await Promise.all([stopper.stop(), stopSweeping(), stopPruning(), work.settled(stopLimitMs)]);
      await close();
    },
  };
}
