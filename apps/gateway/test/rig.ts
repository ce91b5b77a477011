import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Owner, PlanAnswer, PlanRequest, WorkflowId } from '@plangate/contracts';
import { type RedisServer, startRedis } from '@plangate/devstack';
import { EventLog } from '@plangate/events/redis';
import { apiKeyStore } from '@plangate/http';
import { connectRedis } from '@plangate/redis';
import { ReviewStore } from '@plangate/review/redis';
import { createReview } from '@plangate/review/use-cases';
import { configFile, loadStrategies, Settings } from '@plangate/service';
import { newRecord, readSubmission, type TaskRecord } from '@plangate/tasks';
import { TaskStore } from '@plangate/tasks/redis';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { ulid } from 'ulid';
import { type Answer, ask } from '../../../packages/http/test/serve.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../src/start.ts';

export const PRESETS = loadStrategies(configFile('research_strategies.yaml'));
export const ALICE: Owner = { user: 'alice', tenant: 'acme' };
const LIMITS = { defaultTimeoutSeconds: 900, maxTimeoutSeconds: 2_592_000, maxRounds: 10 };
/** Nothing listens there. */
export const NOWHERE = '127.0.0.1:1';

export type { Answer };

export interface Asking {
  method?: string;
  /** Default: alice's; null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Buffer;
}

type ScriptedReply = Partial<PlanAnswer> | { status: number };

/** An llm-service that answers what a test tells it. */
export interface ScriptedLlm {
  url: string;
  requests: PlanRequest[];
  /** Headers of each of those. */
  headers: IncomingHttpHeaders[];
  /** Default: a plan that names its round. */
  reply: (request: PlanRequest) => ScriptedReply | Promise<ScriptedReply>;
  stop(): Promise<void>;
}

export interface RigOptions {
  temporalAddress?: string;
  settings?: {
    gateway?: Partial<Settings['gateway']>;
    review?: Partial<Settings['review']>;
    events?: Partial<Settings['events']>;
    jwt?: Partial<Settings['jwt']>;
    /** Default: no limits. */
    rate_limits?: Settings['rate_limits'];
  };
  redis?: RedisServer;
  taskQueue?: string;
  options?: Partial<Pick<GatewayOptions, 'stopLimitMs' | 'sweepIntervalMs' | 'adapt'>>;
}

/** A gateway in this process with a real Redis, keys for three people, and stores to arrange and to look with. */
export interface Rig {
  url: string;
  port: number;
  gateway: RunningGateway;
  redisServer: RedisServer;
  redis: Redis;
  tasks: TaskStore;
  reviews: ReviewStore;
  events: EventLog;
  llm: ScriptedLlm;
  taskQueue: string;
  /** `bob` is another user of alice's tenant, `carol` an "alice" of another tenant. */
  keys: { alice: string; bob: string; carol: string };
  /** Lines of the gateway's log. */
  lines: Record<string, unknown>[];
  ask(path: string, asking?: Asking): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A task of alice's that is recorded as running, without any workflow. */
  task(context?: Record<string, unknown>, owner?: Owner): Promise<TaskRecord>;
  /** Such a task with an open review at version 1. */
  review(plan?: Partial<PlanAnswer>): Promise<WorkflowId>;
  stop(): Promise<void>;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const redisServer = options.redis ?? (await startRedis());
  const redis = connectRedis(redisServer.url);
  await until(() => redis.status === 'ready');
  const llm = await scriptedLlm();
  const taskQueue = options.taskQueue ?? `test-${randomUUID()}`;
  const settings = Settings.parse({
    gateway: { port: 0, ...options.settings?.gateway },
    review: options.settings?.review ?? {},
    events: options.settings?.events ?? {},
    jwt: options.settings?.jwt ?? {},
    rate_limits: options.settings?.rate_limits ?? { minute: 0, hour: 0, day: 0 },
    redis: { url: redisServer.url },
    llm_service: { url: llm.url },
    temporal: { address: options.temporalAddress ?? NOWHERE, task_queue: taskQueue },
  });
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const gateway = await startGateway({
    settings,
    presets: PRESETS,
    log,
    version: '0.0.0',
    ...options.options,
  });
  const port = Number(new URL(gateway.url).port);
  const tasks = new TaskStore(redis);
  const reviews = new ReviewStore(redis);
  const keyStore = apiKeyStore(redis);
  const key = async (user: string, tenant: string) =>
    (await keyStore.create({ owner: { user, tenant } })).key;
  const keys = {
    alice: await key('alice', 'acme'),
    bob: await key('bob', 'acme'),
    carol: await key('alice', 'umbrella'),
  };
  const ask = (path: string, asking: Asking = {}) => askServer(port, path, { key: keys.alice, ...asking });

  async function task(context: Record<string, unknown> = { require_review: true }, owner = ALICE) {
    const record = recordOf(context, owner);
    await tasks.create(record);
    await tasks.markRunning(record.task_id);
    return record;
  }

  return {
    url: gateway.url,
    port,
    gateway,
    redisServer,
    redis,
    tasks,
    reviews,
    events: new EventLog(redis, { keep: 10_000 }),
    llm,
    taskQueue,
    keys,
    lines,
    ask,
    post: (path, body, headers = {}) => ask(path, { method: 'POST', body, headers }),
    task,
    async review(plan = {}) {
      const { task_id } = await task();
      await openReview(reviews, task_id, plan);
      return task_id;
    },
    async stop() {
      await gateway.stop();
      await llm.stop();
      redis.disconnect();
      if (!options.redis) await redisServer.stop();
    },
  };
}

export function recordOf(context: Record<string, unknown>, owner = ALICE, now = new Date()): TaskRecord {
  const read = readSubmission({ query: 'What is known?', context }, LIMITS, PRESETS);
  if (!read.ok) throw new Error(read.error);
  const workflowId = `task-${ulid()}` as WorkflowId;
  return newRecord({ submission: read.submission, workflowId, owner, sessionId: 's', token: ulid(), now });
}

export async function openReview(
  reviews: ReviewStore,
  workflowId: WorkflowId,
  plan: Partial<PlanAnswer> = {},
  { owner = ALICE, timeoutSeconds = 900 }: { owner?: Owner | null; timeoutSeconds?: number } = {},
): Promise<void> {
  const origin = { workflowId, owner: owner as Owner, query: 'What is known?', maxRounds: 10 };
  await createReview(
    reviews,
    origin,
    planAnswer({ message: 'First plan', plan: 'First plan', ...plan }),
    timeoutSeconds,
  );
}

export function planAnswer(answer: Partial<PlanAnswer>): PlanAnswer {
  return {
    message: 'A plan',
    intent: 'ready',
    plan: answer.message ?? 'A plan',
    round: 1,
    model: 'scripted',
    provider: 'scripted',
    input_tokens: 3,
    output_tokens: 4,
    ...answer,
  };
}

async function scriptedLlm(): Promise<ScriptedLlm> {
  const llm: ScriptedLlm = {
    url: '',
    requests: [],
    headers: [],
    reply: ({ current_round }) => ({ message: `Plan of round ${current_round}` }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (req.url === '/health') return void res.end('{}');
    const body = JSON.parse(Buffer.concat(chunks).toString()) as PlanRequest;
    llm.requests.push(body);
    llm.headers.push(req.headers);
    const reply = await llm.reply(body);
    const failed = 'status' in reply;
    res.statusCode = failed ? reply.status : 200;
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(failed ? { error: 'scripted', code: 'provider_failed' } : planAnswer(reply)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  llm.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return llm;
}

export function askServer(port: number, path: string, asking: Asking): Promise<Answer> {
  const { method = 'GET', key, headers = {}, body, raw } = asking;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return ask(port, path, {
    method,
    headers: {
      ...(key ? { 'X-API-Key': key } : {}),
      ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
  });
}

/** Waits until something holds, looking often; fails after `limitMs`. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
