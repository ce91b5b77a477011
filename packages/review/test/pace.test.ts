import { redisForFile } from '@plangate/devstack/vitest-redis';
import { describe, expect, it, vi } from 'vitest';
import { createFeedbackLock, ReviewStore } from '../src/redis/index.ts';
import {
  approvePlan,
  type Caller,
  cancelReview,
  createReview,
  editPlan,
  extendReview,
  Pace,
  rejectPlan,
  type Store,
  submitFeedback,
} from '../src/use-cases/index.ts';
import { answer, origin, storeWith } from './reviews.ts';

const caller: Caller = { owner: { user: 'ada', tenant: 'acme' }, authOff: false };
const STALLED = { ok: false, status: 503, code: 'request_stalled' };

const { redis } = await redisForFile();
const reviews = new ReviewStore(redis);

async function open() {
  const from = origin();
  await createReview(reviews, from, answer('Plan A'), 900);
  return from;
}

/** A monotonic clock, and a store in whose every load so much of it passes. */
function stoppedWhileLooking(ms: number): { store: Store; pace: () => Pace } {
  let now = 0;
  return {
    pace: () => new Pace(() => now),
    store: storeWith(reviews, {
      load: async (id) => {
        const loaded = await reviews.load(id);
        now += ms;
        return loaded;
      },
    }),
  };
}

const commands = {
  approve: (ports: Ports, from: Origin) => approvePlan(ports, requestOf(from)),
  edit: (ports: Ports, from: Origin) => editPlan(ports, { ...requestOf(from), plan: 'Mine' }),
  reject: (ports: Ports, from: Origin) => rejectPlan(ports, { ...requestOf(from), reason: undefined }),
  extend: (ports: Ports, from: Origin) =>
    extendReview(ports, { ...requestOf(from), seconds: 60, maxSecondsAhead: 2_592_000 }),
  cancel: (ports: Ports, from: Origin) => cancelReview(ports, from, 'ada', undefined, caller),
};
type Ports = Parameters<typeof approvePlan>[0];
type Origin = ReturnType<typeof origin>;
const requestOf = ({ workflowId }: Origin) => ({ workflowId, caller, ifMatch: undefined });

describe('a process that was stopped between two steps of a request', () => {
  let ids = 0;
  const newCommandId = () => `c${++ids}`;
  const deliver = async () => 'sent' as const;

  it.each(Object.entries(commands))(
    '%s: over 10 s it gives up with 503, and nothing is written',
    async (_, act) => {
      const from = await open();
      const { store, pace } = stoppedWhileLooking(10_001);
      expect(await act({ store, deliver, newCommandId, pace: pace() }, from)).toMatchObject(STALLED);
      expect((await reviews.load(from.workflowId)).state?.version).toBe(1);
      expect((await reviews.audit(from.workflowId)).accepted).toHaveLength(1);
    },
  );

  it.each(Object.entries(commands))('%s: up to 10 s it goes on', async (_, act) => {
    const from = await open();
    const { store, pace } = stoppedWhileLooking(10_000);
    expect(await act({ store, deliver, newCommandId, pace: pace() }, from)).toMatchObject({ ok: true });
    expect((await reviews.load(from.workflowId)).state?.version).toBe(2);
  });

  it('feedback: stopped before the model call, no model is asked and the lock is free', async () => {
    const from = await open();
    const { store, pace } = stoppedWhileLooking(6_000);
    const planner = vi.fn(async () => answer('Plan B'));
    const feedback = { ...requestOf(from), message: 'x' };
    expect(await submitFeedback({ ...portsOf(store, planner), pace: pace() }, feedback)).toMatchObject(
      STALLED,
    );
    expect(planner).not.toHaveBeenCalled();
    expect(await reviews.load(from.workflowId)).toMatchObject({
      state: { version: 1 },
      feedbackInFlight: false,
    });
  });

  it('feedback: stopped between the answer of the model and the commit, nothing is written', async () => {
    const from = await open();
    let now = 0;
    let answered = false;
    const store = storeWith(reviews, {
      load: async (id) => {
        const loaded = await reviews.load(id);
        if (answered) now += 10_001;
        return loaded;
      },
    });
    const planner = async () => {
      answered = true;
      return answer('Plan B');
    };
    const ports = { ...portsOf(store, planner), pace: new Pace(() => now) };
    expect(await submitFeedback(ports, { ...requestOf(from), message: 'x' })).toMatchObject(STALLED);
    expect((await reviews.load(from.workflowId)).state?.current_plan).toBe('Plan A');
  });

  it('feedback: the time of the model itself is not counted', async () => {
    const from = await open();
    let now = 0;
    const planner = async () => {
      now += 59_000;
      return answer('Plan B');
    };
    const ports = { ...portsOf(reviews, planner), pace: new Pace(() => now) };
    expect(await submitFeedback(ports, { ...requestOf(from), message: 'x' })).toMatchObject({ ok: true });
  });

  function portsOf(store: Store, planner: () => Promise<ReturnType<typeof answer>>) {
    const lock = createFeedbackLock(redis, { ttlMs: 5_000, onFault: () => {} });
    return { store, planner, lock, newCommandId, onPlannerFault: () => {} };
  }
});
