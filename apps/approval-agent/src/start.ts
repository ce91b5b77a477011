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
import { connectRedis, firstConnection } from '@plangate/redis';
import {
  createLlmClient,
  type Logger,
  PROJECT_FOLDER,
  requireLlmService,
  type Settings,
} from '@plangate/service';
import { startWorker } from '@plangate/service/worker';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createActivities } from './activities.ts';
import { createApp } from './app.ts';
import { createThreads } from './threads.ts';
import { createTools } from './tools/index.ts';

/** How long running requests may take once the process stops, in milliseconds; what is left goes on after the next start. */
const STOP_LIMIT_MS = 5_000;
const WORKER_GRACE = '8 seconds';
/** Few at a time: on a busy machine more of them would only wait here until Temporal takes them for lost. */
const WORKFLOW_TASKS = 8;
/** A model call ends in llm-service after its own limit; this one only notices that the service hangs. */
const LLM_MARGIN_SECONDS = 10;

export interface AgentOptions {
  settings: Settings;
  environment: NodeJS.ProcessEnv;
  log: Logger;
  version: string;
}

/**
 * Starts the approval agent: the HTTP API and the worker of its threads. It serves as soon as it listens, whether or
 * not Redis and Temporal are there yet.
 * @returns its URL, and the function that stops it: a turn that is under way goes on after the next start
 */
export async function startApprovalAgent(
  options: AgentOptions,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { settings, environment, log, version } = options;
  const { approval_agent: agent, temporal } = settings;
  const tools = createTools(agent, environment);
  const redis = connectRedis(settings.redis.url, {
    name: 'plangate-approval-agent',
    onError: (error) => log.warn({ reason: error.message }, 'redis'),
  });
  const taskQueue = `${temporal.task_queue}-approval`;
  const threads = createThreads({ address: temporal.address, namespace: temporal.namespace, taskQueue, log });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const server = createHttpServer(
    createApp({
      settings: agent,
      log,
      version,
      authenticator: agent.skip_auth
        ? skipAuth
        : byCredential(apiKeyStore(redis).verify, ...jwtVerifiers(settings.jwt, PROJECT_FOLDER)),
      threads,
      idempotency: idempotencyStore(redis),
      limit: rateLimiter(redis, settings.rate_limits, {
        onFault: (error) => log.warn({ reason: error.message }, 'requests are not counted'),
      }),
      limits: {
        maxSteps: agent.max_steps,
        toolTimeoutSeconds: agent.tool_timeout_seconds,
        turnsPerRun: agent.turns_per_run,
      },
      metrics,
      checks: {
        redis: () => redis.ping(),
        temporal: () => threads.check(),
        'llm-service': () => requireLlmService(settings.llm_service.url),
      },
    }),
  );
  const stopper = stoppable(server, { limitMs: STOP_LIMIT_MS });
  const close = async () => {
    metrics.clear();
    redis.disconnect();
    await threads.close();
  };

  await firstConnection(redis);
  let url: string;
  try {
    url = await listen(server, agent);
  } catch (error) {
    await close();
    throw error;
  }
  const stopWorker = await startWorker({
    temporal,
    taskQueue,
    workflows: new URL('./workflows/index.ts', import.meta.url),
    activities: createActivities({
      llm: createLlmClient(settings.llm_service.url, settings.models.timeout_seconds + LLM_MARGIN_SECONDS),
      tools,
      systemPrompt: agent.system_prompt,
      log,
    }),
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    shutdownGraceTime: WORKER_GRACE,
    log,
  });
  return {
    url,
    async stop() {
      await stopper.stop();
      await stopWorker();
      await close();
    },
  };
}
