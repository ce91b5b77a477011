import type { WorkflowId } from '@plangate/contracts';
import { reviewKeys } from '@plangate/review/redis';
import { OPEN_TASKS } from '../../packages/tasks/src/redis/keys.ts';
import { until } from '../../test/support/until.ts';
import { type Aftermath, lookBack } from './aftermath.ts';
import { type Killable, LOCK_SECONDS } from './killable.ts';
import { answered, type Life, pause } from './life.ts';
import { verify } from './verify.ts';
import type { Kill } from './verify-runs.ts';

/** What became of a life; `after` is null where no task came of its submission, or it never ended. */
export interface Settled {
  life: Life;
  after: Aftermath | null;
  problems: string[];
}

/** Longest waits in milliseconds once everything is back. */
export interface Waits {
  /** For the gateway to have its store again: it comes back to a Redis that was killed within a second. */
  reconnectMs: number;
  /** For a lock that its holder took to the grave: its lifetime, and a little for looking. */
  lockMs: number;
  /** Until the workflow knows a decision. */
  deliverMs: number;
  /** For the end of a task. */
  endMs: number;
}

const WAITS: Waits = {
  reconnectMs: 5_000,
  lockMs: LOCK_SECONDS * 1_000 + 1_000,
  deliverMs: 30_000,
  endMs: 60_000,
};
/** Many lives are looked at side by side: looking must not be what keeps the product busy. */
const LOOK_EVERY_MS = 250;

/** Takes a review to its end, where one that is still open must be usable, and looks back on its whole life. */
export async function settle(
  product: Pick<Killable, 'client' | 'redis'>,
  life: Life,
  kills: Kill[],
  waits: Waits = WAITS,
): Promise<Settled> {
  let after: Aftermath | null = null;
  try {
    // What looks at the store has to be back itself before it can say anything.
    await within(waits.endMs, 'Redis does not answer', () => product.redis.ping().then(() => true));
    await within(waits.reconnectMs, 'the gateway has no store', async () => {
      const answer = await product.client.ask('/api/v1/tasks?limit=1').catch(() => null);
      return answer?.status === 200;
    });
    life.id ??= await findByQuery(product, life.query);
    const { id } = life;
    if (id === null) return { life, after, problems: wrongAbsence(life) };
    const problems = await finish(product, life, id as WorkflowId, waits);
    await within(5_000, 'the stream does not end', () =>
      Promise.race([
        (life.following?.done ?? Promise.resolve()).then(() => true),
        pause(50).then(() => false),
      ]),
    );
    after = await lookBack(product, id);
    const isUnstarted = after.task.error === 'task could not be started';
    if (isUnstarted) return { life, after: null, problems: wrongAbsence(life) };
    return { life, after, problems: told(life, after, [...problems, ...verify(life, after, kills)]) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { life, after, problems: told(life, after, [reason]) };
  } finally {
    life.following?.stop();
  }
}

/** Tasks that are still looked after although all have ended. */
export async function leftovers({ redis }: Killable): Promise<string[]> {
  try {
    await within(10_000, 'tasks:open is not empty', async () => (await redis.zcard(OPEN_TASKS)) === 0);
    return [];
  } catch (error) {
    return [`${(error as Error).message}: ${await redis.zrange(OPEN_TASKS, '0', '-1')}`];
  }
}

/** A task whose submission got no answer may be there all the same. */
async function findByQuery({ client }: Pick<Killable, 'client'>, query: string): Promise<string | null> {
  const { json } = await client.ask('/api/v1/tasks?limit=100');
  return json.tasks.find((task: { query: string }) => task.query === query)?.task_id ?? null;
}

/** What was refused, or broke off before anything was kept, has done nothing. */
function wrongAbsence({ submitted, calls, query }: Life): string[] {
  return [
    ...(submitted.status === 200 ? [`${query}: submitted, but not started`] : []),
    ...(calls.length > 0 ? [`${query}: not submitted, but the model was asked`] : []),
  ];
}

async function finish(
  product: Pick<Killable, 'client' | 'redis'>,
  life: Life,
  id: WorkflowId,
  waits: Waits,
): Promise<string[]> {
  const { client, redis } = product;
  const { lock, review } = reviewKeys(id);
  const problems: string[] = [];
  await within(waits.lockMs, 'the lock is left behind', () => redis.exists(lock).then((held) => held === 0));
  const ended = async () => (await client.ask(`/api/v1/tasks/${id}`)).json?.completed_at != null;
  const look = () => client.ask(`/api/v1/tasks/${id}/review?wait=0`);
  let seen = await look();
  await within(waits.endMs, 'there is neither a review nor an end', async () => {
    seen = await look();
    return seen.status === 200 || (await ended());
  });
  if (seen.json?.status === 'reviewing') {
    const from = Date.now();
    const answer = await client.approve(id, `"${seen.json.version}"`);
    const action = { kind: 'approve', text: 'approve at the end', seen: seen.json, bound: true } as const;
    life.actions.push({ ...action, ...answered(answer), from, to: Date.now() });
    // Its deadline may have come first.
    const isClosed = answer.status === 409 && answer.json.code === 'review_closed';
    if (answer.status !== 200 && !isClosed) problems.push(`an open review is not usable: ${answer.text}`);
  }
  await within(
    waits.deliverMs,
    'the decision is not delivered',
    async () => (await redis.hget(review, 'undelivered')) === null,
  );
  await within(waits.endMs, 'the task does not end', ended);
  return problems;
}

/** The problems of a life and, where there are some, what was done and told in it. */
function told({ id, submitted, actions }: Life, after: Aftermath | null, problems: string[]): string[] {
  if (problems.length === 0) return [];
  const zero = submitted.from;
  const done = actions.map(
    ({ text, seen, bound, status, body, from, to }) =>
      `    ${from - zero}..${to - zero} ms ${text} at ${bound ? '' : 'unbound '}v${seen?.version ?? 0} -> ` +
      `${status} ${body?.code ?? body?.message ?? body?.status ?? ''}`,
  );
  const events = (after?.events ?? []).map(
    ({ seq, type, timestamp }) => `${seq} ${type} ${Date.parse(timestamp) - zero}`,
  );
  return [...problems.map((problem) => `${id}: ${problem}`), ...done, `    events: ${events.join(', ')}`];
}

async function within(limitMs: number, otherwise: string, holds: () => Promise<boolean>): Promise<void> {
  await until(() => holds().catch(() => false), limitMs, LOOK_EVERY_MS).catch(() => {
    throw new Error(`${otherwise} within ${limitMs} ms`);
  });
}
