import type { AuditEntry, PlanAnswer, ReviewBody, WorkflowEvent, WorkflowId } from '@plangate/contracts';
import { eventKeys } from '@plangate/events/redis';
import type { PlanVersion, ReviewOrigin } from '@plangate/review';
import { reviewKeys } from '@plangate/review/redis';
import { closeReview, createReview, settleDecision } from '@plangate/review/use-cases';
import { newRecord, readSubmission } from '@plangate/tasks';
import { ulid } from 'ulid';
import { until } from '../../test/support/until.ts';
import { followToEnd } from '../follow.ts';
import type { Bench } from './bench.ts';
import { call, type Reply } from './http.ts';
import { answerTo, feedbackText } from './model.ts';
import type { History, Recorded } from './recording.ts';
import { isTold, type Script, type ScriptedOperation, type Tag } from './script.ts';

const USER = '00000000-0000-4000-8000-0000000000aa';
const TENANT = '00000000-0000-4000-8000-0000000000bb';
const TIMEOUT_SECONDS = 900;
/** A gateway has its store again so many milliseconds after its connections broke. */
const RECONNECT_MS = 500;
/** Longest wait for a reader who comes back to have read everything. */
const FOLLOW_MS = 10_000;
/** Lifetime of a lock: the default of the settings. */
const LOCK_MS = 15_000;

/** Plays a script on a review of its own and returns what was done, seen, and said of it afterwards. */
export async function play(bench: Bench, script: Script): Promise<History> {
  const id = `task-${ulid()}` as WorkflowId;
  const began = performance.now();
  const origin = await openTask(bench, id, script);
  const operations: Recorded[] = [];
  const firstAnswer = answerTo(script.firstReply, 'First plan', 1) as PlanAnswer;
  const workflow = new Workflow(bench, origin, operations, firstAnswer, script.settlesAfter);
  bench.engines.set(id, { says: script.engine, signalled: () => workflow.signalled() });
  if (script.openAt === null) await workflow.open();
  const follower = script.followerBreaks ? follow(bench, id, script.followerBreaks) : null;
  await Promise.all([
    ...(script.openAt === null ? [] : [pause(script.openAt).then(() => workflow.open())]),
    ...script.clients.map((client, at) => playClient(bench, id, client, `c${at}`, operations)),
    workflow.timers(script),
    ...script.breaks.map(async ({ at, gateway, silentMs }) => {
      await pause(at);
      bench.breakOff(gateway, silentMs);
    }),
    ...script.lockEnds.map(async (at) => {
      await pause(at);
      await bench.redis.del(reviewKeys(id).lock);
    }),
  ]);
  const cutOff = () => bench.breaks.some((at) => at > began - RECONNECT_MS);
  // A store that did not answer in time is as good as away.
  const broke = () => cutOff() || operations.some(({ body }) => body?.code === 'store_unavailable');
  const lockLeft = await lockStays(bench, id, broke);
  const said = await readAll(bench, id, script);
  await workflow.settled();
  const followed = follower ? await follower.finish(said.events.length) : null;
  const calls = bench.model.take(origin.query);
  await forget(bench, id);
  return {
    script,
    origin,
    timeoutSeconds: TIMEOUT_SECONDS,
    firstAnswer,
    operations,
    calls,
    ...said,
    followed,
    lockLeft,
    cutOff: cutOff(),
    broken: broke(),
  };
}

async function openTask({ tasks, strategies }: Bench, id: WorkflowId, script: Script): Promise<ReviewOrigin> {
  const owner = { user: USER, tenant: TENANT };
  const limits = {
    defaultTimeoutSeconds: TIMEOUT_SECONDS,
    maxTimeoutSeconds: 2_592_000,
    maxRounds: script.maxRounds,
  };
  const query = `History ${id}`;
  const read = readSubmission({ query, context: { require_review: true } }, limits, strategies);
  if (!read.ok) throw new Error(read.error);
  const { submission } = read;
  const record = newRecord({
    submission,
    workflowId: id,
    owner,
    sessionId: 's',
    token: ulid(),
    now: new Date(),
  });
  await tasks.create(record);
  await tasks.markRunning(id);
  return { workflowId: id, owner, query, maxRounds: script.maxRounds };
}

const headersOf = (id: string) => ({ 'X-User-Id': USER, 'X-Tenant-Id': TENANT, 'X-Request-ID': id });

async function playClient(
  bench: Bench,
  id: WorkflowId,
  client: ScriptedOperation[],
  name: string,
  operations: Recorded[],
): Promise<void> {
  let seen = 1;
  for (const [at, scripted] of client.entries()) {
    await pause(scripted.wait);
    const recorded = await act(bench, id, scripted, `${name}.${at}`, seen);
    operations.push(recorded);
    seen = recorded.version ?? seen;
  }
}

async function act(
  { ports }: Bench,
  workflowId: WorkflowId,
  scripted: ScriptedOperation,
  id: string,
  seen: number,
): Promise<Recorded> {
  const { kind, seconds } = scripted;
  const ifMatch = kind === 'read' || kind === 'cancel' ? undefined : tagOf(scripted.tag, seen);
  const sent = {
    ...(kind === 'feedback' ? { message: feedbackText(id, scripted.reply, scripted.delay) } : {}),
    ...(kind === 'edit' ? { plan: `Edit of ${id}` } : {}),
    ...(kind === 'reject' || kind === 'cancel' ? { reason: `Reason of ${id}` } : {}),
    ...(kind === 'extend' ? { seconds } : {}),
  };
  const path = `/api/v1/tasks/${workflowId}`;
  const began = performance.now();
  const reply = await call({
    port: portOf(ports, scripted.gateway),
    path: kind === 'cancel' ? `${path}/cancel` : kind === 'read' ? `${path}/review?wait=0` : `${path}/review`,
    headers: { ...headersOf(id), ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }) },
    ...(kind === 'read' ? {} : { body: kind === 'cancel' ? sent : { action: kind, ...sent } }),
    cutAfter: scripted.cutAfter,
  });
  const ended = performance.now();
  const common = { id, kind, ifMatch, ...sent, began };
  if (reply.lost) return { ...common, ended: null, status: 0, version: null, body: null };
  const version = reply.etag === undefined ? null : Number(/^"(\d+)"$/.exec(reply.etag)?.[1]);
  return { ...common, ended, status: reply.status, version, body: reply.body };
}

function tagOf(tag: Tag, seen: number): string | undefined {
  switch (tag) {
    case 'none':
      return undefined;
    case 'seen':
      return `"${seen}"`;
    case 'any':
      return '*';
    case 'before':
      return String(seen - 1);
    case 'zero':
      return '0';
    case 'list':
      return `"${seen}", "${seen + 1}"`;
    case 'text':
      return '"latest"';
  }
}

function portOf(ports: number[], gateway: number): number {
  return ports[gateway % ports.length] ?? 0;
}

/** What the workflow does to a review: opens it, times it out, and acts upon a decision that it is told of. */
class Workflow {
  readonly #bench: Bench;
  readonly #origin: ReviewOrigin;
  readonly #operations: Recorded[];
  readonly #first: PlanAnswer;
  readonly #settlesAfter: number | null;
  readonly #settlements: Promise<void>[] = [];

  constructor(
    bench: Bench,
    origin: ReviewOrigin,
    operations: Recorded[],
    first: PlanAnswer,
    settlesAfter: number | null,
  ) {
    this.#bench = bench;
    this.#origin = origin;
    this.#operations = operations;
    this.#first = first;
    this.#settlesAfter = settlesAfter;
  }

  /** Several signals may come for one decision: it is settled again. */
  signalled(): void {
    const after = this.#settlesAfter;
    if (after !== null && this.#settlements.length < 3) this.#settlements.push(this.#settle(after));
  }

  async settled(): Promise<void> {
    await Promise.all(this.#settlements);
  }

  async #settle(after: number): Promise<void> {
    await pause(after);
    const { reviews } = this.#bench;
    const { workflowId } = this.#origin;
    const { state } = await reviews.load(workflowId);
    if (state?.decision) await settleDecision(reviews, workflowId, state.decision, state.current_plan);
  }

  async open(): Promise<void> {
    await this.#note('create', undefined, () =>
      createReview(this.#bench.reviews, this.#origin, this.#first, TIMEOUT_SECONDS),
    );
  }

  async timers({ deadlines }: Script): Promise<void> {
    let known: string | undefined;
    for (const { at, knowsExtensions } of deadlines.toSorted((a, b) => a.at - b.at)) {
      await pause(at);
      const { state } = await this.#bench.reviews.load(this.#origin.workflowId);
      const current = state?.expires_at ?? new Date(0).toISOString();
      const deadline = knowsExtensions ? current : (known ?? current);
      known = current;
      await this.#note('close', deadline, () =>
        closeReview({ store: this.#bench.reviews }, this.#origin, deadline),
      );
    }
  }

  async #note(
    kind: 'create' | 'close',
    deadline: string | undefined,
    step: () => ReturnType<typeof createReview>,
  ): Promise<void> {
    const began = performance.now();
    const done = await step();
    this.#operations.push({
      id: `workflow.${kind}.${this.#operations.length}`,
      kind,
      ifMatch: undefined,
      ...(deadline === undefined ? {} : { deadline }),
      began,
      ended: performance.now(),
      status: done.ok ? 200 : done.status,
      version: done.ok ? done.state.version : null,
      body: done.ok ? { status: done.state.status, version: done.state.version } : done,
    });
  }
}

/**
 * True where the lock does not go away by itself soon (a cut feedback may still be running), or, where connections
 * broke so that nobody could free it, has no end.
 */
async function lockStays({ redis }: Bench, id: WorkflowId, broke: () => boolean): Promise<boolean> {
  const { lock } = reviewKeys(id);
  const gone = async () => broke() || (await redis.exists(lock)) === 0;
  await until(gone, 2_000).catch(() => undefined);
  const left = await redis.pttl(lock);
  if (left === GONE) return false;
  return !broke() || left < 0 || left > LOCK_MS;
}
/** What PTTL says of a key that does not exist. */
const GONE = -2;

/**
 * Reads everything at one version: where a cut request is still at work, or a decision is still to be told, again.
 * Whether it was told is read first: what was announced with that is in the events then.
 */
async function readAll({ ports, redis, deliverMs }: Bench, id: WorkflowId, script: Script) {
  const end = performance.now() + deliverMs;
  let reads = 0;
  const read = async (path: string): Promise<Extract<Reply, { lost: false }>> => {
    for (;;) {
      reads += 1;
      const port = portOf(ports, reads);
      const reply = await call({ port, path: `/api/v1/tasks/${id}${path}`, headers: headersOf('last') });
      // Another history has broken the connections off, or the gateway has closed one that was idle.
      if (!reply.lost && reply.status !== 503) return reply;
      await pause(50);
    }
  };
  for (;;) {
    const before = await read('/review?wait=0');
    const undelivered = await redis.hget(reviewKeys(id).review, 'undelivered');
    const [audit, versions, timeline] = await Promise.all([
      read('/review/audit'),
      read('/review/versions'),
      read('/timeline'),
    ]);
    const after = await read('/review?wait=0');
    if (before.etag !== after.etag) continue;
    if (undelivered !== null && isTold(script) && performance.now() < end) {
      await pause(25);
      continue;
    }
    return {
      undelivered,
      last: (after.status === 200 ? after.body : null) as ReviewBody | null,
      audit: (audit.body.entries ?? []) as AuditEntry[],
      versions: (versions.body.versions ?? []) as PlanVersion[],
      events: timeline.body.events as WorkflowEvent[],
    };
  }
}

/** Reads the stream, goes away at those moments and comes back where it was, by another gateway. */
function follow({ ports }: Bench, id: WorkflowId, breaks: number[]) {
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const following = followToEnd(urls, id, { 'X-User-Id': USER, 'X-Tenant-Id': TENANT });
  const breaking = (async () => {
    for (const at of breaks) {
      await pause(at);
      following.breakOff();
    }
  })();
  return {
    async finish(count: number) {
      await breaking;
      await until(() => following.events.length >= count, FOLLOW_MS).catch(() => undefined);
      following.stop();
      return following.events;
    },
  };
}

async function forget({ redis, tasks, engines }: Bench, id: WorkflowId): Promise<void> {
  engines.delete(id);
  const { review, commands, plans, lock, audit, refused, foreign } = reviewKeys(id);
  const { stream, meta } = eventKeys(id);
  await tasks.closeOpen(id);
  await redis.del(review, commands, plans, lock, audit, refused, foreign, stream, meta, `task:{${id}}`);
}

function pause(milliseconds: number): Promise<void> {
  if (milliseconds === 0) return Promise.resolve();
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
