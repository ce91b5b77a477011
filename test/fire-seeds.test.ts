import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PlanAnswer, WorkflowId } from '@plangate/contracts';
import { type App, startApp } from '@plangate/devstack';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { EventLog } from '@plangate/events/redis';
import { createFeedbackLock, ReviewStore } from '@plangate/review/redis';
import {
  approvePlan,
  cancelReview,
  createReview,
  type Store,
  sha256,
  submitFeedback,
} from '@plangate/review/use-cases';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { wrongChains } from '../prove/audit-chains.ts';
import { type Random, randomOf, seedOf } from '../prove/random.ts';
import { connectClient, taskPath } from './support/client.ts';

/** Enough for every end to come up many times; `FIRE_SEEDS=1000` tries more. */
const SEEDS = Number(process.env['FIRE_SEEDS'] ?? 240);
const AT_ONCE = 24;
/** Reviews of the suite; `FIRE_REVIEWS=10000` measures more. */
const REVIEWS = Number(process.env['FIRE_REVIEWS'] ?? 200);
/** What the heap may gain, all garbage collected; a review alone takes 10 KB of it while it is read. */
const FLAT_MB = 2;
/** The owner of every request where authentication is off. */
const OWNER = {
  user: '00000000-0000-0000-0000-000000000002',
  tenant: '00000000-0000-0000-0000-000000000001',
};
const caller = { owner: OWNER, authOff: true };

const { server, redis } = await redisForFile();
const reviews = new ReviewStore(redis);

async function openReview() {
  const origin = { workflowId: `task-${ulid()}` as WorkflowId, owner: OWNER, query: 'q', maxRounds: 10 };
  await createReview(reviews, origin, answerOf('Plan A'), 900);
  return origin;
}

function answerOf(plan: string): PlanAnswer {
  const usage = { round: 1, model: 'm', provider: 'p', input_tokens: 1, output_tokens: 1 };
  return { message: plan, intent: 'ready', plan, ...usage };
}

/** Who goes on next: one at a time, chosen by the seed, so that a seed gives the same order on every machine. */
interface Turns {
  /** Waits for its turns; the turn lasts until the same one waits again or leaves. */
  take(count?: number): Promise<void>;
  leave(): void;
}

function takeTurns(random: Random, actors: number): Turns {
  let running = actors;
  const waiting: (() => void)[] = [];
  const rest = () => {
    running -= 1;
    if (running > 0 || waiting.length === 0) return;
    running = 1;
    waiting.splice(random.int(0, waiting.length - 1), 1)[0]?.();
  };
  return {
    async take(count = 1) {
      for (let turn = 0; turn < count; turn += 1) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          rest();
        });
      }
    },
    leave: rest,
  };
}

/** The store as one of several requests reaches it: before and after each step the others may come. */
function inTurns(turns: Turns, onLoad: (plan: string) => void = () => {}): Store {
  return {
    async load(id) {
      await turns.take();
      const loaded = await reviews.load(id);
      onLoad(loaded.state?.plan_sha256 ?? '');
      await turns.take();
      return loaded;
    },
    async commit(...given) {
      await turns.take();
      const committed = await reviews.commit(...given);
      await turns.take();
      return committed;
    },
    acknowledge: reviews.acknowledge.bind(reviews),
    recordRefusal: reviews.recordRefusal.bind(reviews),
  };
}

const APPROVE_REFUSED = ['review_closed', 'feedback_in_flight', 'version_conflict'];
const FEEDBACK_REFUSED = ['review_closed', 'review_approved', 'version_conflict'];

/** Fires the three at once and holds what became of the review against what they were told. */
async function race(seed: number): Promise<string> {
  const random = randomOf(seed);
  const origin = await openReview();
  const { workflowId } = origin;
  const request = { workflowId, caller, ifMatch: undefined };
  const deliver = async () => 'sent' as const;
  let boundTo: string | undefined;
  const turns = takeTurns(random, 3);
  /** Begins after so many turns at most. */
  const fired = async <T>(most: number, act: () => Promise<T>): Promise<T> => {
    await turns.take(random.int(0, most));
    return act().finally(turns.leave);
  };
  const approving = inTurns(turns, (plan) => {
    boundTo ??= plan;
  });
  const lock = createFeedbackLock(redis, { ttlMs: 5_000, onFault: () => {} });
  const planner = async () => {
    await turns.take();
    return answerOf('Plan B');
  };
  const store = inTurns(turns);
  const [approved, heard, cancelled] = await Promise.all([
    fired(16, () => approvePlan({ store: approving, deliver, newCommandId: ulid }, request)),
    fired(4, () =>
      submitFeedback(
        { store, lock, planner, newCommandId: ulid, onPlannerFault: () => {} },
        { ...request, message: 'x' },
      ),
    ),
    fired(24, () => cancelReview({ store, newCommandId: ulid }, origin, OWNER.user, undefined, caller)),
  ]);

  const { state, undelivered } = await reviews.load(workflowId);
  const plan = heard.ok ? 'Plan B' : 'Plan A';
  expect([seed, state]).toMatchObject([
    seed,
    {
      status: approved.ok ? 'approved' : 'cancelled',
      version: heard.ok ? 3 : 2,
      current_plan: plan,
      decision: { action: approved.ok ? 'approve' : 'cancel', plan_sha256: sha256(plan) },
    },
  ]);
  expect(state?.rounds).toHaveLength(heard.ok ? 3 : 1);
  expect(undelivered).toBe(state?.decision?.id);
  expect(cancelled).toMatchObject({ ok: true, changed: !approved.ok });
  // What is approved is what the one who approved had seen.
  if (approved.ok) expect(boundTo).toBe(sha256(plan));
  else expect(APPROVE_REFUSED).toContain(approved.code);
  if (!heard.ok) expect(FEEDBACK_REFUSED).toContain(heard.code);

  const events = await new EventLog(redis, { keep: 1_000 }).read(workflowId, { limit: 100 });
  expect(events.map(({ type }) => type)).toEqual([
    'RESEARCH_PLAN_READY',
    ...(heard.ok ? ['REVIEW_USER_FEEDBACK', 'RESEARCH_PLAN_UPDATED'] : []),
    ...(approved.ok ? [] : ['REVIEW_CANCELLED']),
  ]);
  const { accepted, refused } = await reviews.audit(workflowId);
  expect(wrongChains([...accepted, ...refused])).toEqual([]);
  expect(accepted.map(({ version }) => version)).toEqual(heard.ok ? [1, 2, 3] : [1, 2]);
  return `${approved.ok ? 'approved' : 'cancelled'}${heard.ok ? ' after feedback' : ''}`;
}

describe('P43 approve, feedback and cancel fired together', () => {
  test(`${SEEDS} seeds: one order of what happened, and each is told what is true`, {
    timeout: 90_000,
  }, async () => {
    const ends = new Map<string, number>();
    for (let first = 0; first < SEEDS; first += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, at) => race(seedOf(43, first + at)));
      for (const end of await Promise.all(batch)) ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    process.stdout.write(`${[...ends].map(([end, count]) => `${end}: ${count}`).join(', ')}\n`);
    // Every end came up: the seeds did not all tell the same story.
    expect([...ends.keys()].sort()).toEqual([
      'approved',
      'approved after feedback',
      'cancelled',
      'cancelled after feedback',
    ]);
  });
});

describe('P38 a gateway through which many reviews have gone', () => {
  let folder: string;
  let gateway: App;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plangate-many-'));
    gateway = await startApp('gateway', {
      env: {
        GATEWAY_SKIP_AUTH: '1',
        REDIS_URL: server.url,
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        NODE_OPTIONS: `--expose-gc --import ${fileURLToPath(new URL('fixtures/collect-garbage.mjs', import.meta.url))}`,
      },
      logFile: join(folder, 'gateway.log'),
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await rm(folder, { recursive: true });
  });

  test(`is as large as before: ${REVIEWS} reviews`, { timeout: 2_400_000 }, async () => {
    const client = connectClient(gateway.url ?? '');
    async function live(): Promise<void> {
      const { workflowId: id } = await openReview();
      const read = await client.ask(taskPath(id, '/review'));
      const edited = await client.act(id, { action: 'edit', plan: `Mine ${'x'.repeat(2_000)}` }, '"1"');
      const extended = await client.act(id, { action: 'extend', seconds: 60 }, '"2"');
      const versions = await client.ask(taskPath(id, '/review/versions'));
      const rejected = await client.act(id, { action: 'reject' }, '"3"');
      const answers = [read, edited, extended, versions, rejected];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    }
    async function liveMany(count: number): Promise<void> {
      let left = count;
      const worker = async () => {
        while (left-- > 0) await live();
      };
      await Promise.all(Array.from({ length: 8 }, worker));
    }
    /** What the process holds once its garbage is collected, and what it takes of the machine. */
    async function megabytes(): Promise<{ heap: number; resident: number }> {
      const answered = client.ask('/health');
      process.kill(gateway.pid, 'SIGUSR2');
      await answered;
      const { text } = await client.ask('/metrics');
      const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20;
      return {
        heap: metric('nodejs_heap_size_used_bytes'),
        resident: metric('process_resident_memory_bytes'),
      };
    }
    // What is compiled, pooled and cached once is there after these.
    await liveMany(Math.min(REVIEWS, 300));
    const before = await megabytes();
    await liveMany(REVIEWS);
    let after = await megabytes();
    // What a request held is let go in its own time; what a review left behind never is.
    for (let looks = 1; after.heap - before.heap >= FLAT_MB && looks < 20; looks += 1) {
      await delay(500);
      after = await megabytes();
    }
    const told = ({ heap, resident }: typeof before) =>
      `heap ${heap.toFixed(1)} MB, resident ${resident.toFixed(0)} MB`;
    process.stdout.write(
      `${REVIEWS} reviews, ${REVIEWS * 5} requests: ${told(before)}; then ${told(after)}\n`,
    );
    expect(after.heap - before.heap).toBeLessThan(FLAT_MB);
  });
});
