import type { WorkflowId } from '@plangate/contracts';
import { reviewKeys } from '@plangate/review/redis';
import { OPEN_TASKS } from '../../packages/tasks/src/redis/keys.ts';
import { until } from '../../test/support/until.ts';
import { seedOf } from '../random.ts';
import { type Killable, LOCK_SECONDS, type Part, startKillable } from './killable.ts';
import { begin, type Life, live, pause } from './life.ts';
import { type KillScript, killScriptOf } from './script.ts';
import { lookBack, verify } from './verify.ts';

export interface KillsOptions {
  seed: number;
  runs: number;
  /** Begins no further run after so many. */
  milliseconds?: number;
  /** Number of the first one. */
  first?: number;
  /** How many reviews are on their way when something is killed. */
  reviews?: number;
  /** Told after every run. */
  onRun?(line: string): void;
}

export interface KillsResult {
  seed: number;
  runs: number;
  reviews: number;
  kills: Record<Part, number>;
  /** How the reviews ended, such as `approved`. */
  ends: Map<string, number>;
  /** How many actions were answered with success, refused, answered 503, or not answered at all. */
  answers: { done: number; refused: number; away: number; none: number };
  milliseconds: number;
  failure: { n: number; script: KillScript; problems: string[] } | null;
}

const REVIEWS = 12;
/** Longest wait for the end of all tasks once everything is back: a decision is told within 30 s. */
const SETTLE_MS = 60_000;
const RECONNECT_MS = 3_000;
const DELIVER_MS = 30_000;

/** Kills parts of the product while reviews are on their way, until a run fails. */
export async function proveKills(options: KillsOptions): Promise<KillsResult> {
  const { seed, runs, milliseconds = Infinity, first = 0, reviews = REVIEWS } = options;
  const result: KillsResult = {
    seed,
    runs: 0,
    reviews: 0,
    kills: { gateway: 0, orchestrator: 0, redis: 0, temporal: 0 },
    ends: new Map(),
    answers: { done: 0, refused: 0, away: 0, none: 0 },
    milliseconds: 0,
    failure: null,
  };
  const product = await startKillable();
  const began = performance.now();
  try {
    for (let n = first; n < first + runs && performance.now() - began < milliseconds; n += 1) {
      const started = performance.now();
      const script = killScriptOf(seedOf(seed, n), reviews);
      const problems = await runOnce(product, script, result);
      const killed = script.kills.map(({ part }) => part).join(' and ');
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      options.onRun?.(`run ${n}: ${killed} killed, ${seconds} s${problems.length > 0 ? ', FAILED' : ''}`);
      if (problems.length === 0) continue;
      result.failure = { n, script, problems };
      break;
    }
    result.milliseconds = performance.now() - began;
    return result;
  } finally {
    await product.stop();
  }
}

async function runOnce(product: Killable, script: KillScript, result: KillsResult): Promise<string[]> {
  const lives = await Promise.all(script.reviews.map((review) => begin(product, review)));
  await Promise.all([
    ...lives.map((life) => live(product, life)),
    ...script.kills.map(async ({ part, at, away }) => {
      await pause(at);
      await product.kill(part);
      await pause(away);
      await product.restart(part);
    }),
  ]);
  result.runs += 1;
  result.reviews += lives.length;
  for (const { part } of script.kills) result.kills[part] += 1;
  const problems = (await Promise.all(lives.map((life) => settle(product, life, result)))).flat();
  return [...problems, ...(await leftovers(product))];
}

/** Takes a review to its end: one that is still open must be usable. */
async function settle(product: Killable, life: Life, result: KillsResult): Promise<string[]> {
  try {
    const { actions } = life;
    const problems = await finish(product, life);
    await within(SETTLE_MS, 'the task does not end', async () => {
      const answer = await product.client.ask(`/api/v1/tasks/${life.id}`).catch(() => null);
      return answer?.json?.completed_at != null;
    });
    await within(5_000, 'the stream does not end', () =>
      Promise.race([life.following.done.then(() => true), pause(50).then(() => false)]),
    );
    const after = await lookBack(product, life);
    for (const { status } of actions) result.answers[kindOf(status)] += 1;
    result.ends.set(after.review.status, (result.ends.get(after.review.status) ?? 0) + 1);
    const found = [...problems, ...verify(life, after)];
    if (found.length === 0) return [];
    const told = actions.map(
      ({ text, seen, bound, status, body }) =>
        `    ${text} at ${bound ? '' : 'unbound '}v${seen.version} -> ${status} ${body?.code ?? body?.message ?? body?.status ?? ''}`,
    );
    const events = after.events.map(({ seq, type }) => `${seq} ${type}`).join(', ');
    return [...found.map((problem) => `${life.id}: ${problem}`), ...told, `    events: ${events}`];
  } catch (error) {
    return [`${life.id}: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    life.following.stop();
  }
}

async function finish({ client, redis }: Killable, { id, actions }: Life): Promise<string[]> {
  const { lock, review } = reviewKeys(id as WorkflowId);
  await within(LOCK_SECONDS * 1_000 + 2_000, 'the lock is left behind', async () =>
    redis.exists(lock).then(
      (held) => held === 0,
      () => false,
    ),
  );
  // The gateway comes back to a Redis that was killed within a second.
  await within(RECONNECT_MS, 'the gateway has no store', async () => {
    const answer = await client.ask(`/api/v1/tasks/${id}/review?wait=0`);
    return answer.status !== 503;
  });
  const look = await client.ask(`/api/v1/tasks/${id}/review?wait=0`);
  if (look.status !== 200) return [`the review is gone: ${look.status} ${look.text}`];
  if (look.json.status === 'reviewing') {
    const answer = await client.approve(id, `"${look.json.version}"`);
    actions.push({
      kind: 'approve',
      text: 'approve at the end',
      seen: look.json,
      bound: true,
      status: answer.status,
      body: answer.json,
    });
    // Its deadline may have come first.
    const closed = answer.status === 409 && answer.json.code === 'review_closed';
    if (answer.status !== 200 && !closed) return [`an open review is not usable: ${answer.text}`];
  }
  await within(
    DELIVER_MS,
    'the decision is not delivered',
    async () => (await redis.hget(review, 'undelivered')) === null,
  );
  return [];
}

/** Tasks that are still looked after although all have ended. */
async function leftovers({ redis }: Killable): Promise<string[]> {
  try {
    await within(10_000, 'tasks:open is not empty', async () => (await redis.zcard(OPEN_TASKS)) === 0);
    return [];
  } catch (error) {
    return [`${(error as Error).message}: ${await redis.zrange(OPEN_TASKS, '0', '-1')}`];
  }
}

function kindOf(status: number): keyof KillsResult['answers'] {
  if (status === 0) return 'none';
  if (status === 503) return 'away';
  return status < 300 ? 'done' : 'refused';
}

async function within(limitMs: number, otherwise: string, holds: () => Promise<boolean>): Promise<void> {
  await until(holds, limitMs).catch(() => {
    throw new Error(`${otherwise} within ${limitMs} ms`);
  });
}
