import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { EventLog } from '@plangate/events/redis';
import { UnreadableStateError } from '@plangate/redis';
import { describe, expect, it, vi } from 'vitest';
import { chainEntry } from '../src/audit.ts';
import { createFeedbackLock, ReviewStore, reviewKeys } from '../src/redis/index.ts';
import {
  approvePlan,
  type Caller,
  cancelReview,
  closeReview,
  createReview,
  type Deliver,
  deliverDecision,
  editPlan,
  expireFinishedReview,
  type Planner,
  rejectPlan,
  settleDecision,
  sha256,
  submitFeedback,
} from '../src/use-cases/index.ts';
import { answer, origin, question, storeWith } from './reviews.ts';

const caller: Caller = { owner: { user: 'ada', tenant: 'acme' }, authOff: false };
const { redis } = await redisForFile();
const store = new ReviewStore(redis);
const events = new EventLog(redis, { keep: 1_000 });
let ids = 0;
const FACTS = {
  at: '2026-01-15T10:30:00.000Z',
  by: 'ada',
  action: 'edit',
  outcome: 'accepted',
  code: 'ok',
  version: 2,
  request_id: 'r1',
} as const;
const newCommandId = () => `c${++ids}`;
const sent: Deliver = async () => 'sent';

async function open(first = answer('Plan A'), maxRounds = 10) {
  const from = origin(maxRounds);
  await createReview(store, from, first, 900);
  return from;
}

function feedbackPorts(planner: Planner, ttlMs = 15_000, faults: unknown[] = []) {
  return {
    store,
    planner,
    newCommandId,
    lock: createFeedbackLock(redis, { ttlMs, onFault: (kind, error) => faults.push([kind, error]) }),
    onPlannerFault: () => {},
  };
}

async function typesOf(id: WorkflowId) {
  return (await events.read(id, { limit: 100 })).map(({ type }) => type);
}

/** Waits until the lifetime of a lock has grown so often. */
async function countRenewals(lock: string, most: number): Promise<number> {
  let [last, renewals] = [await redis.pttl(lock), 0];
  await vi.waitUntil(
    async () => {
      const now = await redis.pttl(lock);
      if (now > last) renewals += 1;
      last = now;
      return renewals >= most;
    },
    { timeout: 5_000, interval: 10 },
  );
  return renewals;
}

describe('the store', () => {
  it('creates a review once, however many try', async () => {
    const from = origin();
    const states = await Promise.all(
      Array.from({ length: 20 }, (_, n) => createReview(store, from, answer(`Plan ${n}`), 900)),
    );
    expect(new Set(states.map((created) => created.ok && created.state.current_plan)).size).toBe(1);
    expect(await typesOf(from.workflowId)).toEqual(['RESEARCH_PLAN_READY']);
  });

  it('the hot read returns the body as it was written, with version and owner', async () => {
    const { workflowId } = await open();
    const stored = await store.readBody(workflowId);
    expect(stored).toMatchObject({ version: 1, owner: caller.owner });
    expect(JSON.parse(stored!.body)).toMatchObject({
      status: 'reviewing',
      version: 1,
      current_plan: 'Plan A',
    });
  });

  it('keeps every text that was the plan, with its author', async () => {
    const { workflowId } = await open();
    await editPlan(
      { store, deliver: sent, newCommandId },
      { workflowId, caller, ifMatch: undefined, plan: 'Mine' },
    );
    expect(await store.plans(workflowId)).toMatchObject([
      { version: 1, text: 'Plan A', author: 'assistant' },
      { version: 2, text: 'Mine', author: 'user', by: 'ada' },
    ]);
  });

  it('a commit whose reply was lost is recognised by its command id and happens once', async () => {
    const { workflowId } = await open();
    const { state, audit } = await store.load(workflowId);
    const transition = { state: { ...state!, version: 2 }, events: [] };
    const entry = chainEntry(audit, FACTS, sha256);
    const step = { commandId: 'same', expectedVersion: 1, transition, audit: entry };
    expect(await store.commit(workflowId, step)).toEqual({ result: 'committed', version: 2 });
    expect(await store.commit(workflowId, step)).toEqual({ result: 'repeated', version: 2 });
    expect(await store.commit(workflowId, { ...step, commandId: 'other' })).toEqual({
      result: 'moved',
      version: 2,
    });
  });

  it('P73 a state of another format is refused by name and not written over', async () => {
    const { workflowId } = await open();
    const { review } = reviewKeys(workflowId);
    const newer = JSON.stringify({ format: 2 });
    await redis.hset(review, 'state', newer);
    await expect(store.load(workflowId)).rejects.toThrow(UnreadableStateError);
    await expect(store.load(workflowId)).rejects.toThrow(review);
    expect(await redis.hget(review, 'state')).toBe(newer);
  });
});

describe('feedback', () => {
  it('P01 two at once: one 200, one 409, one model call', async () => {
    const { workflowId } = await open();
    const planner = vi.fn<Planner>(async () => {
      await new Promise((done) => setTimeout(done, 100));
      return answer('Plan B');
    });
    const request = { workflowId, caller, message: 'more', ifMatch: '1' };
    const results = await Promise.all([
      submitFeedback(feedbackPorts(planner), request),
      submitFeedback(feedbackPorts(planner), request),
    ]);
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    expect(results.find(({ ok }) => !ok)).toMatchObject({
      status: 409,
      error: 'Another feedback request is in progress. Please wait.',
    });
    expect(planner).toHaveBeenCalledTimes(1);
    expect((await store.load(workflowId)).state?.rounds).toHaveLength(3);
  });

  it('P01 the same If-Match one after the other: 200, then 409, never a lost round', async () => {
    const { workflowId } = await open();
    const ports = feedbackPorts(async () => answer('Plan B'));
    const request = { workflowId, caller, message: 'more', ifMatch: '1' };
    expect(await submitFeedback(ports, request)).toMatchObject({ ok: true });
    expect(await submitFeedback(ports, request)).toMatchObject({
      status: 409,
      error: 'Conflict: state has been modified',
      fields: { version: 2 },
    });
  });

  it('P02 a holder whose lock has expired cannot write over the next one', async () => {
    const { workflowId } = await open();
    let release = () => {};
    const stuck = new Promise<void>((done) => {
      release = done;
    });
    const request = { workflowId, caller, message: 'more', ifMatch: undefined };
    const first = submitFeedback(
      feedbackPorts(async () => {
        await stuck;
        return answer('Late');
      }),
      request,
    );
    const { lock } = reviewKeys(workflowId);
    await vi.waitUntil(async () => (await redis.exists(lock)) === 1);
    await redis.del(lock);
    const second = await submitFeedback(
      feedbackPorts(async () => answer('Plan B')),
      request,
    );
    release();
    expect(second).toMatchObject({ ok: true, state: { version: 2 } });
    expect(await first).toMatchObject({ status: 409, error: 'Conflict: state has been modified' });
    expect((await store.load(workflowId)).state?.current_plan).toBe('Plan B');
  });

  it('P117 a lock that expired during the model call is no error, and another holder keeps his', async () => {
    const { workflowId } = await open();
    const faults: unknown[] = [];
    const { lock } = reviewKeys(workflowId);
    const ports = feedbackPorts(
      async () => {
        await redis.set(lock, 'somebody else', 'PX', 60_000);
        return answer('Plan B');
      },
      15_000,
      faults,
    );
    expect(
      await submitFeedback(ports, { workflowId, caller, message: 'x', ifMatch: undefined }),
    ).toMatchObject({ ok: true });
    expect(await redis.get(lock)).toBe('somebody else');
    expect(faults).toMatchObject([['unlock', expect.anything()]]);
  });

  it('the lock is renewed while the model thinks longer than its lifetime', async () => {
    const { workflowId } = await open();
    const ports = feedbackPorts(async () => {
      await new Promise((done) => setTimeout(done, 900));
      return answer((await redis.exists(reviewKeys(workflowId).lock)) === 1 ? 'held' : 'lost');
    }, 300);
    const result = await submitFeedback(ports, { workflowId, caller, message: 'x', ifMatch: undefined });
    expect(result).toMatchObject({ ok: true, message: 'held' });
  });

  it('a lock that was lost is not renewed any more, and told once', async () => {
    const { workflowId } = await open();
    const { lock } = reviewKeys(workflowId);
    const faults: unknown[] = [];
    const ttlMs = 300;
    const held = await createFeedbackLock(redis, {
      ttlMs,
      onFault: (kind) => faults.push(kind),
    })(workflowId);
    if (!held.held) throw new Error('not held');
    await redis.set(lock, 'somebody else', 'PX', 60_000);
    await vi.waitUntil(() => faults.length > 0);
    const later = await createFeedbackLock(redis, { ttlMs, onFault: () => {} })('task-later' as WorkflowId);
    if (!later.held) throw new Error('not held');
    // Renewed three times and more: so often would the lost one have been told again.
    const renewals = await countRenewals(reviewKeys('task-later' as WorkflowId).lock, 3);
    expect([renewals, faults]).toEqual([3, ['extend']]);
    await later.release();
    await held.release();
    expect(await redis.get(lock)).toBe('somebody else');
  });

  it('P21 a failed model call is 502, changes nothing, uses no round and frees the lock', async () => {
    const { workflowId } = await open();
    const broken: Planner[] = [
      async () => {
        throw new Error('provider down');
      },
      async () => ({ intent: 'ready' }) as never,
      async () => answer('  '),
    ];
    for (const planner of broken) {
      expect(
        await submitFeedback(feedbackPorts(planner), { workflowId, caller, message: 'x', ifMatch: '1' }),
      ).toMatchObject({ status: 502, error: 'Failed to generate updated plan' });
    }
    const { state, feedbackInFlight } = await store.load(workflowId);
    expect(state).toMatchObject({ version: 1, round: 1 });
    expect(feedbackInFlight).toBe(false);
  });

  it('another user is 403 and an unknown review 404, before anything else', async () => {
    const { workflowId } = await open();
    const ports = feedbackPorts(async () => answer('Plan B'));
    const eve: Caller = { owner: { user: 'eve', tenant: 'acme' }, authOff: false };
    const request = { message: 'x', ifMatch: '99' };
    expect(await submitFeedback(ports, { ...request, workflowId, caller: eve })).toMatchObject({
      status: 403,
      error: 'Forbidden: not the task owner',
    });
    expect(
      await submitFeedback(ports, { ...request, workflowId: 'task-none' as WorkflowId, caller }),
    ).toMatchObject({
      status: 404,
      error: 'Review session not found or expired',
    });
  });
});

describe('decisions', () => {
  it('P78 a hundred parallel approves are one decision and a hundred times allowed', async () => {
    const { workflowId } = await open();
    const results = await Promise.all(
      Array.from({ length: 100 }, () =>
        approvePlan({ store, deliver: sent, newCommandId }, { workflowId, caller, ifMatch: undefined }),
      ),
    );
    expect(results.every(({ ok }) => ok)).toBe(true);
    const { state, undelivered } = await store.load(workflowId);
    expect(state?.version).toBe(2);
    expect(undelivered).toBe(state?.decision?.id);
  });

  it('P09 a decision whose delivery failed stands, is undelivered, and is delivered again', async () => {
    const { workflowId } = await open();
    const approved = await approvePlan(
      { store, deliver: async () => 'unreachable', newCommandId },
      { workflowId, caller, ifMatch: '1' },
    );
    expect(approved).toMatchObject({ ok: true, delivered: false, state: { status: 'approved' } });
    const deliver = vi.fn<Deliver>(async () => 'sent');
    expect(await deliverDecision({ store, deliver }, workflowId)).toMatchObject({ delivered: true });
    expect(deliver).toHaveBeenCalledTimes(1);
  });

  it('what is said of an open review never comes after its end', async () => {
    const { workflowId } = await open();
    const reminder = (key: string) =>
      ({ key, type: 'REVIEW_REMINDER', agent_id: 'planner', message: '' }) as const;
    expect(await store.announceWhileOpen(workflowId, [reminder('a')])).toBe(true);
    await rejectPlan(
      { store, deliver: sent, newCommandId },
      { workflowId, caller, ifMatch: undefined, reason: undefined },
    );
    expect(await store.announceWhileOpen(workflowId, [reminder('b')])).toBe(false);
    const types = (await events.read(workflowId, { limit: 50 })).map(({ type }) => type);
    expect(types.filter((type) => type === 'REVIEW_REMINDER')).toHaveLength(1);
    expect(types.at(-1)).toBe('RESEARCH_PLAN_REJECTED');
  });

  it('the acknowledgement announces the approval once, however often it is made', async () => {
    const { workflowId } = await open();
    const approved = await approvePlan(
      { store, deliver: sent, newCommandId },
      { workflowId, caller, ifMatch: '1' },
    );
    if (!approved.ok) throw new Error(approved.error);
    const { decision, current_plan } = approved.state;
    for (let n = 0; n < 3; n += 1) await settleDecision(store, workflowId, decision!, current_plan);
    expect(await typesOf(workflowId)).toEqual(['RESEARCH_PLAN_READY', 'RESEARCH_PLAN_APPROVED']);
    expect((await store.load(workflowId)).undelivered).toBeNull();
    const deliver = vi.fn<Deliver>(async () => 'sent');
    await deliverDecision({ store, deliver }, workflowId);
    expect(deliver).not.toHaveBeenCalled();
  });

  it('an approval of a run that is over without it is taken back: 409, and the state says so', async () => {
    const { workflowId } = await open();
    expect(
      await approvePlan(
        { store, deliver: async () => 'over', newCommandId },
        { workflowId, caller, ifMatch: '1' },
      ),
    ).toMatchObject({ ok: false, status: 409, error: 'Review is closed: cancelled' });
    expect((await store.load(workflowId)).state?.status).toBe('cancelled');
  });

  it('everybody whose approval was taken back is told so, also where another request did it', async () => {
    const { workflowId } = await open();
    let others = 0;
    const deliver: Deliver = async () => {
      others += 1;
      if (others === 1) await deliverDecision({ store, deliver: async () => 'over' }, workflowId);
      return 'over';
    };
    const request = { workflowId, caller, ifMatch: '1' };
    const closed = { ok: false, status: 409, error: 'Review is closed: cancelled' };
    expect(await approvePlan({ store, deliver, newCommandId }, request)).toMatchObject(closed);

    const second = await open();
    const racing = storeWith(store, {
      commit: async (...args: Parameters<ReviewStore['commit']>) => {
        const committed = await store.commit(...args);
        await deliverDecision({ store, deliver: async () => 'over' }, second.workflowId);
        return committed;
      },
    });
    const ports = { store: racing, deliver: sent, newCommandId };
    expect(await approvePlan(ports, { ...request, workflowId: second.workflowId })).toMatchObject(closed);
  });

  it('P84 a rejection of a run that is over is done', async () => {
    const { workflowId } = await open();
    const ports = { store, deliver: (async () => 'over') as Deliver, newCommandId };
    expect(await rejectPlan(ports, { workflowId, caller, ifMatch: '1', reason: 'no' })).toMatchObject({
      ok: true,
    });
    expect(await store.load(workflowId)).toMatchObject({ undelivered: null, state: { status: 'rejected' } });
  });

  it('approve while a model call runs is 409', async () => {
    const { workflowId } = await open();
    const { lock } = reviewKeys(workflowId);
    await redis.set(lock, 'x', 'PX', 5_000);
    expect(
      await approvePlan({ store, deliver: sent, newCommandId }, { workflowId, caller, ifMatch: '1' }),
    ).toMatchObject({ status: 409, error: 'A feedback request is in progress. Please wait and try again.' });
  });

  it('P43 approve, feedback and cancel at once: one order, no version missing', async () => {
    for (let round = 0; round < 20; round += 1) {
      const from = await open(question('?'));
      const { workflowId } = from;
      await editPlan(
        { store, deliver: sent, newCommandId },
        { workflowId, caller, ifMatch: '1', plan: 'Mine' },
      );
      await Promise.all([
        approvePlan({ store, deliver: sent, newCommandId }, { workflowId, caller, ifMatch: undefined }),
        submitFeedback(
          feedbackPorts(async () => answer('Plan B')),
          { workflowId, caller, message: 'x', ifMatch: undefined },
        ),
        cancelReview({ store, newCommandId }, from, 'ada', undefined),
        closeReview({ store }, from, null),
      ]);
      const { state } = await store.load(workflowId);
      const log = await events.read(workflowId, { limit: 100 });
      const versions = log
        .map(({ payload }) => payload?.['version'])
        .filter((version) => version !== undefined);
      expect(state!.status).not.toBe('reviewing');
      expect(Math.max(...(versions as number[]), state!.version)).toBe(state!.version);
    }
  });

  it('a feedback that begins between the look and the commit of an approve makes it a 409', async () => {
    const { workflowId } = await open();
    const { lock } = reviewKeys(workflowId);
    const racing = storeWith(store, {
      load: async (id: WorkflowId) => {
        const loaded = await store.load(id);
        await redis.set(lock, 'x', 'PX', 5_000);
        return loaded;
      },
    });
    expect(
      await approvePlan({ store: racing, deliver: sent, newCommandId }, { workflowId, caller, ifMatch: '1' }),
    ).toMatchObject({ status: 409, code: 'feedback_in_flight' });
    expect((await store.load(workflowId)).state?.status).toBe('reviewing');
  });

  it('a decision that replaced one that was never told leaves nothing undelivered, and audits the other as refused', async () => {
    const from = await open();
    const { workflowId } = from;
    const acted = {
      id: 'older',
      action: 'approve',
      by: 'ada',
      at: new Date().toISOString(),
      version: 2,
      plan_sha256: sha256('Plan A'),
    } as const;
    await rejectPlan(
      { store, deliver: async () => 'unreachable', newCommandId },
      { workflowId, caller, ifMatch: '1', reason: 'no' },
    );
    await settleDecision(store, workflowId, acted, 'Plan A');
    expect(await store.load(workflowId)).toMatchObject({
      undelivered: null,
      state: { status: 'approved', decision: { id: 'older' } },
    });
    expect((await store.audit(workflowId)).refused).toMatchObject([
      { by: 'ada', action: 'reject', code: 'decision_superseded' },
    ]);
  });

  it('after the end of its task no review is opened or closed any more', async () => {
    const from = origin();
    await events.append(from.workflowId, [{ type: 'STREAM_END', agent_id: 'orchestrator', message: '' }]);
    expect(await createReview(store, from, answer('Late'), 900)).toMatchObject({
      status: 409,
      code: 'task_over',
    });
    expect(await cancelReview({ store, newCommandId }, from, 'ada', undefined)).toMatchObject({
      status: 409,
      code: 'task_over',
    });
    expect(await redis.exists(reviewKeys(from.workflowId).review)).toBe(0);
  });

  it('how often a decision was sent is known until the workflow acknowledges', async () => {
    const { workflowId } = await open();
    const approved = await approvePlan(
      { store, deliver: sent, newCommandId },
      { workflowId, caller, ifMatch: '1' },
    );
    if (!approved.ok) throw new Error(approved.error);
    const { id } = approved.state.decision!;
    await store.noteSent(workflowId, id, 5_000);
    await store.noteSent(workflowId, 'another', 9_000);
    expect(await store.readOpen([workflowId])).toMatchObject([
      { undelivered: id, sent: { times: 1, at: 5_000 } },
    ]);
    await store.acknowledge(workflowId, id, []);
    expect(await store.readOpen([workflowId])).toMatchObject([
      { undelivered: null, sent: { times: 0, at: 0 } },
    ]);
  });

  it.each(['*', '1, 2', undefined])(
    'an approve with If-Match %s never takes a plan that came after its look',
    async (ifMatch) => {
      const { workflowId } = await open();
      let looks = 0;
      const racing = storeWith(store, {
        load: async (id: WorkflowId) => {
          const loaded = await store.load(id);
          looks += 1;
          if (looks === 1) {
            const edit = { workflowId, caller, ifMatch: '1', plan: 'Something else' };
            await editPlan({ store, deliver: sent, newCommandId }, edit);
          }
          return loaded;
        },
      });
      const ports = { store: racing, deliver: sent, newCommandId };
      expect(await approvePlan(ports, { workflowId, caller, ifMatch })).toMatchObject({
        status: 409,
        error: 'Conflict: plan has been updated. Please review the latest version.',
      });
    },
  );

  it('a review is let go with the end of its task, but not while its decision is undelivered', async () => {
    const { workflowId } = await open();
    const { review } = reviewKeys(workflowId);
    const ports = { store, deliver: async () => 'unreachable' as const, newCommandId };
    const rejected = await rejectPlan(ports, { workflowId, caller, ifMatch: '1', reason: undefined });
    if (!rejected.ok) throw new Error(rejected.error);
    expect(await expireFinishedReview(store, workflowId)).toEqual({ undelivered: true });
    expect(await redis.ttl(review)).toBe(-1);
    await store.acknowledge(workflowId, rejected.state.decision!.id, []);
    expect(await expireFinishedReview(store, workflowId)).toEqual({ undelivered: false });
    expect(await redis.ttl(review)).toBeGreaterThan(1_100);
  });
});
