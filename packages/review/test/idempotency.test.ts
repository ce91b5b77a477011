import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { expect, test } from 'vitest';
import type { ReviewState } from '../src/index.ts';
import { createFeedbackLock, idempotencyKey, ReviewStore } from '../src/redis/index.ts';
import {
  approvePlan,
  type Caller,
  createReview,
  type Deliver,
  deliverDecision,
  editPlan,
  rejectPlan,
  submitFeedback,
} from '../src/use-cases/index.ts';
import { answer, origin, storeWith } from './reviews.ts';

const caller: Caller = { owner: { user: 'ada', tenant: 'acme' }, authOff: false };
const unreachable: Deliver = async () => 'unreachable';
const over: Deliver = async () => 'over';
const { redis } = await redisForFile();
const store = new ReviewStore(redis);
let ids = 0;
const newCommandId = () => `c${++ids}`;

async function open(): Promise<WorkflowId> {
  const from = origin();
  await createReview(store, from, answer('Plan A'), 900);
  return from.workflowId;
}
/** The record of a request, which tells the state that it was made from. */
const record = (id: WorkflowId) => (state: ReviewState) => ({
  key: idempotencyKey(id, 'h'),
  value: `version ${state.version}`,
  ttlSeconds: 60,
});
const stored = (id: WorkflowId) => redis.get(idempotencyKey(id, 'h'));
const request = (workflowId: WorkflowId, ifMatch?: string) => ({
  workflowId,
  caller,
  ifMatch,
  idempotency: record(workflowId),
});

test('every action writes the record of its key in the step that it makes, from the state after it', async () => {
  const ports = { store, deliver: unreachable, newCommandId };
  const id = await open();
  await editPlan(ports, { ...request(id), plan: 'Mine' });
  expect(await stored(id)).toBe('version 2');
  const lock = createFeedbackLock(redis, { ttlMs: 15_000, onFault: () => {} });
  const planner = async () => answer('Plan B');
  const asked = { workflowId: id, caller, ifMatch: undefined, message: 'x' };
  await submitFeedback(
    { store, lock, planner, newCommandId, onPlannerFault: () => {} },
    {
      ...asked,
      idempotency: (state, message) => ({ ...record(id)(state), value: `${message} ${state.version}` }),
    },
  );
  expect(await stored(id)).toBe('Plan B 3');
  await approvePlan(ports, request(id));
  expect(await stored(id)).toBe('version 4');
  const other = await open();
  await rejectPlan(ports, { ...request(other), reason: undefined });
  expect(await stored(other)).toBe('version 2');
  expect(await redis.ttl(idempotencyKey(other, 'h'))).toBeLessThanOrEqual(60);
});

test('a refused action writes none', async () => {
  const id = await open();
  const refused = await editPlan(
    { store, deliver: unreachable, newCommandId },
    { ...request(id, '7'), plan: 'x' },
  );
  expect(refused.ok).toBe(false);
  expect(await stored(id)).toBeNull();
});

test('a commit that came too late writes neither step nor record; the one that follows tells its own state', async () => {
  const id = await open();
  let raced = false;
  const racing = storeWith(store, {
    async commit(...args) {
      if (!raced) {
        raced = true;
        await editPlan(
          { store, deliver: unreachable, newCommandId },
          { workflowId: id, caller, ifMatch: undefined, plan: 'First' },
        );
        const late = await store.commit(...args);
        expect([late.result, await stored(id)]).toEqual(['moved', null]);
        return late;
      }
      return store.commit(...args);
    },
  });
  await editPlan({ store: racing, deliver: unreachable, newCommandId }, { ...request(id), plan: 'Second' });
  expect(await stored(id)).toBe('version 3');
});

test('a commit whose reply was lost has written the record, and is not made twice', async () => {
  const id = await open();
  let lost = false;
  const losing = storeWith(store, {
    async commit(...args) {
      const done = await store.commit(...args);
      if (lost) return done;
      lost = true;
      throw new Error('Connection is closed.');
    },
  });
  const edit = editPlan(
    { store: losing, deliver: unreachable, newCommandId },
    { ...request(id), plan: 'Mine' },
  );
  await expect(edit).rejects.toThrow('Connection is closed.');
  expect(await stored(id)).toBe('version 2');
});

test('whoever takes an approval back removes its record, and leaves those of other actions', async () => {
  const id = await open();
  const ports = { store, deliver: unreachable, newCommandId };
  const ofEdit = { key: idempotencyKey(id, 'edit'), value: 'edited', ttlSeconds: 60 };
  await editPlan(ports, { ...request(id), idempotency: () => ofEdit, plan: 'Mine' });
  await approvePlan(ports, request(id));
  expect(await stored(id)).toBe('version 3');
  const { withdrawn } = await deliverDecision({ store, deliver: over }, id);
  expect(withdrawn?.status).toBe('cancelled');
  expect(await stored(id)).toBeNull();
  expect(await redis.get(ofEdit.key)).toBe('edited');
});
