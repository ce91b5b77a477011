import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { describe, expect, it } from 'vitest';
import { ReviewStore } from '../src/redis/index.ts';
import {
  approvePlan,
  type Caller,
  closeReview,
  createReview,
  deliverDecision,
  editPlan,
  extendReview,
  readReview,
  type Step,
  type Store,
  submitFeedback,
} from '../src/use-cases/index.ts';
import { answer, origin, storeWith } from './reviews.ts';

const caller: Caller = { owner: { user: 'ada', tenant: 'acme' }, authOff: false };
const { redis } = await redisForFile();
const store = new ReviewStore(redis);
let ids = 0;
const ports = { store, deliver: async () => 'sent' as const, newCommandId: () => `c${++ids}` };

async function open(): Promise<WorkflowId> {
  const from = origin();
  await createReview(store, from, answer('Plan A'), 900);
  return from.workflowId;
}
const ask = (workflowId: WorkflowId, ifMatch?: string) => ({ workflowId, caller, ifMatch });
const editOfAnother = (id: WorkflowId) => editPlan(ports, { ...ask(id), plan: 'Of another' });
const stateAt = async (id: WorkflowId) => (await readReview(store, id))!;

/** A store that loses the reply of its first commit and sends it again; `between` happens before that. */
function losing(between: () => Promise<unknown>): Store {
  let lost = false;
  return storeWith(store, {
    async commit(id: WorkflowId, step: Step) {
      const committed = await store.commit(id, step);
      if (lost) return committed;
      lost = true;
      await between();
      return store.commit(id, step);
    },
  });
}

describe('a request whose commit was made although its reply was lost', () => {
  it('is answered with the stored state where nothing came after it', async () => {
    const id = await open();
    const edited = await editPlan(
      { ...ports, store: losing(async () => {}) },
      { ...ask(id, '1'), plan: 'Mine' },
    );
    expect(edited).toMatchObject({ ok: true, state: await stateAt(id) });
    expect(edited).toMatchObject({ state: { version: 2, current_plan: 'Mine' } });
  });

  it('an edit is answered with its own text and version where another edit came after it', async () => {
    const id = await open();
    const lossy = losing(() => editOfAnother(id));
    const edited = await editPlan({ ...ports, store: lossy }, { ...ask(id, '1'), plan: 'Mine' });
    expect(edited).toMatchObject({ ok: true, state: { version: 2, current_plan: 'Mine', plan_version: 2 } });
    expect(await stateAt(id)).toMatchObject({ version: 3, current_plan: 'Of another' });
  });

  it('an extension is answered with the deadline and version that it made', async () => {
    const id = await open();
    const { expires_at } = await stateAt(id);
    const lossy = losing(() => editOfAnother(id));
    const request = { ...ask(id, '1'), seconds: 60, maxSecondsAhead: 100_000 };
    expect(await extendReview({ ...ports, store: lossy }, request)).toMatchObject({
      ok: true,
      state: {
        version: 2,
        current_plan: 'Plan A',
        expires_at: new Date(Date.parse(expires_at) + 60_000).toISOString(),
      },
    });
  });

  it('a feedback is answered with one round: its message, plan, version and status belong together', async () => {
    const id = await open();
    const lossy = losing(() => approvePlan(ports, ask(id)));
    const feedback = {
      ...ports,
      store: lossy,
      lock: async () => ({ held: true, release: async () => {} }) as const,
      planner: async () => answer('Plan B'),
      onPlannerFault: () => {},
    };
    expect(await submitFeedback(feedback, { ...ask(id, '1'), message: 'shorter' })).toMatchObject({
      ok: true,
      message: 'Plan B',
      state: { version: 2, round: 2, status: 'reviewing', current_plan: 'Plan B' },
    });
    expect(await stateAt(id)).toMatchObject({ version: 3, status: 'approved' });
  });

  it('an approval that was taken back meanwhile is told so', async () => {
    const id = await open();
    const over = async () => 'over' as const;
    const lossy = losing(() => deliverDecision({ store, deliver: over }, id));
    expect(await approvePlan({ ...ports, store: lossy }, ask(id, '1'))).toMatchObject({
      ok: false,
      status: 409,
      error: 'Review is closed: cancelled',
    });
  });

  it('is 503 where nobody knows any more what it made, and is not made twice', async () => {
    const id = await open();
    let lost = false;
    const lossy = storeWith(store, {
      async commit(workflowId: WorkflowId, step: Step) {
        const committed = await store.commit(workflowId, step);
        if (lost) return committed;
        lost = true;
        await editOfAnother(id);
        return { result: 'moved', version: 3 };
      },
    });
    expect(await editPlan({ ...ports, store: lossy }, { ...ask(id), plan: 'Mine' })).toMatchObject({
      ok: false,
      status: 503,
      code: 'outcome_open',
      fields: { version: 3 },
    });
    expect((await store.audit(id)).accepted.map(({ action }) => action)).toEqual(['open', 'edit', 'edit']);
  });
});

describe('what the system does by itself', () => {
  it('a review that another attempt opened, and a person changed, comes back as it is', async () => {
    const from = origin();
    const racing = storeWith(store, {
      async commit(id: WorkflowId, step: Step) {
        await createReview(store, from, answer('Plan A'), 900);
        await editOfAnother(id);
        return store.commit(id, step);
      },
    });
    expect(await createReview(racing, from, answer('Plan B'), 900)).toMatchObject({
      ok: true,
      state: { version: 2, current_plan: 'Of another' },
    });
  });

  it('a time-out whose reply was lost says what is true', async () => {
    const from = origin();
    await createReview(store, from, answer('Plan A'), 900);
    expect(await closeReview({ store: losing(async () => {}) }, from, null)).toMatchObject({
      ok: true,
      state: { version: 2, status: 'timed_out' },
    });
  });
});
