import type { AuditEntry } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AuditHead, chainEntry, NO_ENTRY } from '../src/audit.ts';
import { findBrokenEntry } from '../src/index.ts';
import { ReviewStore, reviewKeys } from '../src/redis/index.ts';
import {
  approvePlan,
  type Caller,
  closeReview,
  createReview,
  editPlan,
  sha256,
  submitFeedback,
} from '../src/use-cases/index.ts';
import { answer, origin, storeWith } from './reviews.ts';

const caller: Caller = { owner: { user: 'ada', tenant: 'acme' }, authOff: false, requestId: 'req-1' };
const { redis } = await redisForFile();
const store = new ReviewStore(redis);
let ids = 0;
const ports = () => ({ store, deliver: async () => 'sent' as const, newCommandId: () => `c${++ids}` });

async function open() {
  const from = origin();
  await createReview(store, from, answer('Plan A'), 900);
  return from;
}

function chain(length: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let head: AuditHead = { n: 0, hash: NO_ENTRY };
  for (let n = 1; n <= length; n += 1) {
    const entry = chainEntry(
      head,
      {
        at: `2026-01-15T10:30:0${n}.000Z`,
        by: 'ada',
        action: 'edit',
        outcome: 'accepted',
        code: 'ok',
        version: n,
        request_id: `r${n}`,
      },
      sha256,
    );
    entries.push(entry);
    head = { n: entry.n, hash: entry.hash };
  }
  return entries;
}

describe('the chain', () => {
  it('an untouched chain holds, also when its beginning was trimmed', () => {
    expect(findBrokenEntry(chain(5), sha256)).toBeNull();
    expect(findBrokenEntry(chain(5).slice(2), sha256)).toBeNull();
    expect(findBrokenEntry([], sha256)).toBeNull();
  });

  it('an entry that was changed in any field is found', () => {
    const fields = [
      'at',
      'by',
      'action',
      'outcome',
      'code',
      'version',
      'request_id',
      'prev',
      'hash',
      'n',
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.integer({ min: 0, max: 4 }), (field, at) => {
        const entries = chain(5);
        entries[at] = { ...entries[at]!, [field]: typeof entries[at]![field] === 'number' ? 99 : 'changed' };
        expect(findBrokenEntry(entries, sha256)).not.toBeNull();
      }),
    );
  });

  it('an entry that was removed, moved or added in between is found', () => {
    const [a, b, c, d] = chain(4) as [AuditEntry, AuditEntry, AuditEntry, AuditEntry];
    expect(findBrokenEntry([a, c, d], sha256)).toBe(3);
    expect(findBrokenEntry([a, c, b, d], sha256)).toBe(3);
    expect(findBrokenEntry([a, b, b, c, d], sha256)).toBe(2);
  });
});

describe('the audit of a review', () => {
  it('holds every accepted step, chained, with who asked and on which plan', async () => {
    const { workflowId } = await open();
    await editPlan(ports(), { workflowId, caller, ifMatch: '1', plan: 'Mine' });
    await approvePlan(ports(), { workflowId, caller, ifMatch: '2' });
    const { accepted, refused } = await store.audit(workflowId);
    expect(accepted).toMatchObject([
      { n: 1, by: 'system', action: 'open', outcome: 'accepted', code: 'ok', version: 1, prev: NO_ENTRY },
      { n: 2, by: 'ada', action: 'edit', version: 2, request_id: 'req-1', plan_sha256: sha256('Mine') },
      { n: 3, by: 'ada', action: 'approve', version: 3, plan_sha256: sha256('Mine') },
    ]);
    expect(refused).toEqual([]);
    expect(findBrokenEntry(accepted, sha256)).toBeNull();
  });

  it('holds every refusal in a chain of its own; of a stranger it says only that there was one', async () => {
    const from = await open();
    const { workflowId } = from;
    const eve: Caller = { owner: { user: 'eve', tenant: 'acme' }, authOff: false, requestId: 'req-2' };
    const lock = async () => ({ held: false }) as const;
    const feedback = { ...ports(), lock, planner: async () => answer('x'), onPlannerFault: () => {} };
    await approvePlan(ports(), { workflowId, caller: eve, ifMatch: undefined });
    await submitFeedback(feedback, { workflowId, caller, ifMatch: '9', message: 'x' });
    await submitFeedback(feedback, { workflowId, caller, ifMatch: '1', message: 'x' });
    await closeReview({ store }, from, null);
    await approvePlan(ports(), { workflowId, caller, ifMatch: undefined });
    const { accepted, refused, foreign } = await store.audit(workflowId);
    expect(foreign).toMatchObject([
      { n: 1, by: 'another user', outcome: 'refused', code: 'forbidden_owner', request_id: 'req-2' },
    ]);
    expect(refused).toMatchObject([
      { n: 1, by: 'ada', action: 'feedback', outcome: 'refused', code: 'version_conflict', version: 1 },
      { n: 2, by: 'ada', action: 'feedback', code: 'feedback_in_flight' },
      { n: 3, by: 'ada', action: 'approve', code: 'review_closed', version: 2 },
    ]);
    expect(findBrokenEntry(refused, sha256)).toBeNull();
    expect(accepted.map(({ action }) => action)).toEqual(['open', 'time_out']);
  });

  it('many refusals at once are all chained, and hold up no commit', async () => {
    const { workflowId } = await open();
    const stale = { workflowId, caller, ifMatch: '9' };
    const [approved] = await Promise.all([
      approvePlan(ports(), { workflowId, caller, ifMatch: '1' }),
      ...Array.from({ length: 30 }, () => editPlan(ports(), { ...stale, plan: 'x' })),
    ]);
    expect(approved.ok).toBe(true);
    const { refused } = await store.audit(workflowId);
    expect(refused).toHaveLength(30);
    expect(findBrokenEntry(refused, sha256)).toBeNull();
  });

  it('a stranger cannot push the owner’s refusals out, however often he tries', async () => {
    const { workflowId } = await open();
    const eve: Caller = { owner: { user: 'eve', tenant: 'acme' }, authOff: false };
    await approvePlan(ports(), { workflowId, caller, ifMatch: '9' });
    for (let n = 0; n < 1_100; n += 1) await approvePlan(ports(), { workflowId, caller: eve, ifMatch: '1' });
    const { refused, foreign } = await store.audit(workflowId);
    expect(refused).toMatchObject([{ by: 'ada', code: 'version_conflict' }]);
    expect(foreign).toHaveLength(1_000);
    expect(findBrokenEntry(foreign, sha256)).toBeNull();
  });

  it('an entry that came between is no conflict: the step is made again on the longer chain', async () => {
    const { workflowId } = await open();
    const { audit } = reviewKeys(workflowId);
    const grown = storeWith(store, {
      load: async (id: typeof workflowId) => {
        const loaded = await store.load(id);
        if (loaded.audit.n === 1) {
          const { hash: _, n: __, prev: ___, ...facts } = chain(1)[0]!;
          await redis.rpush(audit, JSON.stringify(chainEntry(loaded.audit, facts, sha256)));
        }
        return loaded;
      },
    });
    const edited = await editPlan(
      { ...ports(), store: grown },
      { workflowId, caller, ifMatch: '1', plan: 'Mine' },
    );
    expect(edited.ok).toBe(true);
    const { accepted } = await store.audit(workflowId);
    expect(accepted.map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(findBrokenEntry(accepted, sha256)).toBeNull();
  });

  it('is kept for 90 days, longer than the review', async () => {
    const { workflowId } = await open();
    await store.expire(workflowId, 300);
    expect(await redis.ttl(reviewKeys(workflowId).audit)).toBeGreaterThan(89 * 24 * 3_600);
  });
});
