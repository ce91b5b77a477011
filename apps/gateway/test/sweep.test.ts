import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { EventLog } from '@plangate/events/redis';
import { ReviewStore } from '@plangate/review/redis';
import { approvePlan, cancelReview, type Deliver, rejectPlan } from '@plangate/review/use-cases';
import { TaskStore } from '@plangate/tasks/redis';
import { pino } from 'pino';
import { ulid } from 'ulid';
import { beforeEach, describe, expect, test } from 'vitest';
import { createDeliver } from '../src/deliver.ts';
import type { Engine, RunState } from '../src/engine.ts';
import { pruning, Sweep, startSweeping } from '../src/sweep.ts';
import { ALICE, openReview, recordOf, until } from './rig.ts';

const { redis } = await redisForFile({ flush: true });
const tasks = new TaskStore(redis);
const reviews = new ReviewStore(redis);
const events = new EventLog(redis, { keep: 1_000 });

/** The engine as a test says it is, and what the sweep asked of it. */
let run: RunState;
let delivery: 'sent' | 'unreachable' | 'over';
let asked: string[];
let delivered: string[];
let errors: unknown[];
beforeEach(() => {
  [run, delivery, asked, delivered, errors] = ['running', 'sent', [], [], []];
});

const MINUTE = 60_000;
const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) });
function sweepAt(now = Date.now(), deliver?: Deliver): Sweep {
  return new Sweep({
    tasks,
    reviews,
    events,
    engine: {
      async describeRun(id) {
        asked.push(id);
        return run;
      },
    },
    deliver:
      deliver ??
      (async (id) => {
        delivered.push(id);
        return delivery;
      }),
    keepEventsSeconds: 600,
    log,
    now: () => now,
  });
}
const later = (ms: number) => sweepAt(Date.now() + ms).run();

async function task(
  context: Record<string, unknown> = { require_review: true },
  { running = true } = {},
): Promise<WorkflowId> {
  const record = recordOf(context);
  await tasks.create(record);
  if (running) await tasks.markRunning(record.task_id);
  return record.task_id;
}
async function reviewed(decision?: 'approve' | 'reject' | 'cancel'): Promise<WorkflowId> {
  const id = await task();
  await openReview(reviews, id);
  const caller = { owner: ALICE, authOff: false };
  const request = { workflowId: id, caller, ifMatch: undefined };
  const decide = { store: reviews, deliver: async () => 'unreachable' as const, newCommandId: ulid };
  if (decision === 'approve') await approvePlan(decide, request);
  if (decision === 'reject') await rejectPlan(decide, { ...request, reason: 'no' });
  if (decision === 'cancel') {
    await cancelReview(decide, { workflowId: id, owner: ALICE, query: 'q', maxRounds: 10 }, 'alice', 'stop');
  }
  return id;
}
const openIds = async () => (await tasks.openIds()).tasks.map(({ id }) => id);
const endOf = async (id: WorkflowId) => {
  const record = await tasks.load(id);
  return [record?.status, record?.error];
};
const types = async (id: WorkflowId) => (await events.read(id, { limit: 50 })).map(({ type }) => type);

describe('decisions', () => {
  test.each(['approve', 'reject', 'cancel'] as const)(
    'an undelivered %s is delivered again, less and less often, until it is acknowledged',
    async (action) => {
      const id = await reviewed(action);
      for (const seconds of [0, 5, 15, 25, 40]) await later(seconds * 1_000);
      expect(delivered).toEqual([id, id, id]);
      const { state } = await reviews.load(id);
      await reviews.acknowledge(id, state!.decision!.id, []);
      await later(10 * MINUTE);
      expect(delivered).toHaveLength(3);
    },
  );

  test('an approval whose run is over is taken back, and its task ended as lost', async () => {
    const id = await reviewed('approve');
    [delivery, run] = ['over', 'over'];
    await later(2 * MINUTE);
    expect((await reviews.load(id)).state?.status).toBe('cancelled');
    expect(await endOf(id)).toEqual(['TASK_STATUS_FAILED', 'task ended without a result']);
    expect(await openIds()).toEqual([]);
  });

  test.each([
    ['reject', 'research plan rejected: no'],
    ['cancel', 'task cancelled: stop'],
  ] as const)('a run that is over after a %s ends its task by that decision', async (action, error) => {
    const id = await reviewed(action);
    [delivery, run] = ['over', 'over'];
    await later(2 * MINUTE);
    expect(await endOf(id)).toEqual(['TASK_STATUS_CANCELLED', error]);
    expect(await openIds()).toEqual([]);
  });
});

describe('runs', () => {
  test('a start that was not confirmed is asked for after 60 s, and confirmed where the run is there', async () => {
    const id = await task({}, { running: false });
    await later(59_000);
    expect(asked).toEqual([]);
    await later(61_000);
    expect(asked).toEqual([id]);
    expect((await tasks.load(id))?.start.confirmed).toBe(true);
  });

  test('a start that is not found after 60 s has failed', async () => {
    const id = await task({}, { running: false });
    run = 'none';
    await later(61_000);
    expect(await endOf(id)).toEqual(['TASK_STATUS_FAILED', 'task could not be started']);
    expect((await types(id)).slice(-2)).toEqual(['WORKFLOW_FAILED', 'STREAM_END']);
    expect(await openIds()).toEqual([]);
  });

  test.each(['over', 'none'] as const)(
    'a confirmed task whose run is %s without an end is lost',
    async (state) => {
      const id = await task({ force_research: true });
      run = state;
      await later(61_000);
      expect(await endOf(id)).toEqual(['TASK_STATUS_FAILED', 'task ended without a result']);
    },
  );

  test('an engine that does not answer leaves everything as it is, and is asked again', async () => {
    const id = await task({ force_research: true });
    run = 'unreachable';
    const sweep = sweepAt(Date.now() + 2 * MINUTE);
    await sweep.run();
    await sweep.run();
    expect(asked).toEqual([id, id]);
    expect(await endOf(id)).toEqual(['TASK_STATUS_RUNNING', null]);
  });

  test('a running task is asked for once a minute', async () => {
    const id = await task({ force_research: true });
    let now = Date.now() + 2 * MINUTE;
    const sweep = new Sweep({
      tasks,
      reviews,
      events,
      engine: {
        async describeRun(asking) {
          asked.push(asking);
          return 'running';
        },
      },
      deliver: async () => 'sent',
      keepEventsSeconds: 600,
      log,
      now: () => now,
    });
    await sweep.run();
    await sweep.run();
    now += 61_000;
    await sweep.run();
    expect(asked).toEqual([id, id]);
  });

  test('a task in review is not asked for until 300 s after the deadline; then its review times out', async () => {
    const id = await reviewed();
    run = 'over';
    await later(900_000 + 290_000);
    expect(asked).toEqual([]);
    await later(900_000 + 310_000);
    expect((await reviews.load(id)).state?.status).toBe('timed_out');
    expect(await endOf(id)).toEqual(['TASK_STATUS_FAILED', 'task ended without a result']);
    expect(await types(id)).toEqual([
      'RESEARCH_PLAN_READY',
      'ERROR_OCCURRED',
      'REVIEW_TIMED_OUT',
      'ERROR_OCCURRED',
      'WORKFLOW_FAILED',
      'STREAM_END',
    ]);
  });

  test('a review that is overdue while its workflow runs is left to it', async () => {
    const id = await reviewed();
    await later(900_000 + 310_000);
    expect((await reviews.load(id)).state?.status).toBe('reviewing');
  });
});

describe('ends', () => {
  test('a task that has its end leaves the open ones, and its review and events expire', async () => {
    const id = await reviewed('reject');
    const { state } = await reviews.load(id);
    await tasks.end(id, { kind: 'rejected' });
    await reviews.acknowledge(id, state!.decision!.id, []);
    await later(0);
    expect(await openIds()).toEqual([]);
    const seconds = await redis.ttl(`review:{${id}}`);
    expect(seconds).toBeGreaterThan(900 + 290);
    expect(seconds).toBeLessThanOrEqual(1_200);
    expect(await redis.ttl(`events:{${id}}`)).toBeGreaterThan(590);
    expect(await endOf(id)).toEqual(['TASK_STATUS_CANCELLED', 'research plan rejected']);
  });

  test('a task that has its end stays open while a decision is undelivered, and its review is kept', async () => {
    const id = await reviewed('approve');
    delivery = 'unreachable';
    await tasks.end(id, { kind: 'completed', result: 'r' });
    await later(0);
    expect(await openIds()).toEqual([id]);
    expect(await redis.ttl(`review:{${id}}`)).toBe(-1);
  });

  test('a cancel of a task that never started is done with its end', async () => {
    const id = await task({ require_review: true }, { running: false });
    await cancelReview(
      { store: reviews, newCommandId: ulid },
      { workflowId: id, owner: ALICE, query: 'q', maxRounds: 10 },
      'alice',
      undefined,
    );
    run = 'none';
    const notFound = createDeliver({ signal: async () => 'not_found' } as unknown as Engine, tasks);
    const sweep = sweepAt(Date.now() + 61_000, notFound);
    await sweep.run();
    await sweep.run();
    expect(await endOf(id)).toEqual(['TASK_STATUS_CANCELLED', 'task cancelled']);
    expect(await openIds()).toEqual([]);
  });

  test('an entry without a record leaves after 60 s, not before', async () => {
    const record = recordOf({});
    await tasks.create(record);
    await tasks.removeUnstarted(record.task_id, record.start.token);
    await later(30_000);
    expect(await openIds()).toEqual([record.task_id]);
    await later(61_000);
    expect(await openIds()).toEqual([]);
  });

  test('a fault with one task is logged with its id and does not stop the others', async () => {
    const bad = await reviewed('approve');
    await redis.hset(`review:{${bad}}`, 'state', 'not json');
    const good = await reviewed('approve');
    await later(0);
    expect(delivered).toEqual([good]);
    expect(errors).toMatchObject([
      { workflow_id: bad, msg: 'stored state unreadable: the task waits until it is mended' },
    ]);
  });

  test('a record of another version is left alone', async () => {
    const id = await task({ force_research: true });
    await redis.hset(`task:{${id}}`, 'v', '99');
    run = 'over';
    await later(10 * MINUTE);
    expect([asked, await openIds()]).toEqual([[], [id]]);
  });
});

describe('the clock of the sweep', () => {
  test('begins at once, goes on after a fault, and a stop waits for the walk that is going on', async () => {
    let walks = 0;
    const go = Promise.withResolvers<void>();
    const stop = startSweeping(
      {
        async run() {
          walks += 1;
          if (walks === 1) throw new Error('Redis is away');
          if (walks === 3) await go.promise;
        },
      },
      { intervalMs: 5, log },
    );
    expect(walks).toBe(1);
    await until(() => walks === 3);
    let stopped = false;
    const stopping = stop().then(() => {
      stopped = true;
    });
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    go.resolve();
    await stopping;
    expect(walks).toBe(3);
  });

  test('a walk over the lists of all owners takes a step with each run, and begins anew at its end', async () => {
    const begun: string[] = [];
    const walk = pruning({
      async pruneOwners(cursor) {
        begun.push(cursor);
        return cursor === '0' ? '7' : '0';
      },
    });
    for (let n = 0; n < 3; n += 1) await walk.run();
    expect(begun).toEqual(['0', '7', '0']);
  });
});
