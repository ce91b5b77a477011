import type { AuditEntry } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type AuditFacts, type AuditHead, chainEntry, NO_ENTRY } from '../src/audit.ts';
import { findBrokenEntry, mergeChains, verifyAudit } from '../src/index.ts';
import { ReviewStore, reviewKeys } from '../src/redis/index.ts';
import {
  approvePlan,
  type Caller,
  cancelReview,
  closeReview,
  createReview,
  editPlan,
  extendReview,
  settleDecision,
  sha256,
  submitFeedback,
} from '../src/use-cases/index.ts';
import { answer, NOW, origin, storeWith } from './reviews.ts';

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

function chain(length: number, change: Partial<AuditFacts> = {}): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let head: AuditHead = { n: 0, hash: NO_ENTRY };
  for (let n = 1; n <= length; n += 1) {
    const entry = chainEntry(
      head,
      {
        at: new Date(NOW + n * 1_000).toISOString(),
        by: 'ada',
        action: 'edit',
        outcome: 'accepted',
        code: 'ok',
        version: n,
        request_id: `r${n}`,
        ...change,
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
    expect(findBrokenEntry(chain(5).slice(2), sha256, { kept: 3 })).toBeNull();
    expect(findBrokenEntry([], sha256)).toBeNull();
  });

  it('a chain that begins late although nothing of it had to be trimmed has lost its first entries', () => {
    expect(findBrokenEntry(chain(5).slice(2), sha256)).toBe(3);
    expect(findBrokenEntry(chain(5).slice(2), sha256, { kept: 4 })).toBe(3);
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

describe('an audit of several chains', () => {
  const refusal = { outcome: 'refused', code: 'version_conflict' } as const;
  const accepted = chain(4, { chain: 'accepted' });
  const refused = chain(3, { ...refusal, chain: 'refused' });
  const foreign = chain(2, { ...refusal, chain: 'foreign', by: 'another user' });
  const whole = mergeChains([accepted, refused, foreign]);

  it('is split by the chain that each entry names, and holds', () => {
    expect(whole).toHaveLength(9);
    expect(verifyAudit(whole, sha256, { version: 4 })).toEqual([]);
  });

  it('entries that were written before they named their chain are told apart and hold too', () => {
    const earlier = [chain(2), chain(2, refusal), chain(2, { ...refusal, by: 'another user' })];
    expect(verifyAudit(mergeChains(earlier), sha256, { version: 2 })).toEqual([]);
  });

  it('a chain that was begun without names goes on with them', () => {
    const [first] = chain(1) as [AuditEntry];
    const { n: _, prev: __, hash: ___, ...facts } = accepted[1]!;
    expect(verifyAudit([first, chainEntry(first, facts, sha256)], sha256, { version: 2 })).toEqual([]);
  });

  it('any number of the first or the last accepted steps that were removed is found', () => {
    for (let removed = 1; removed <= 4; removed += 1) {
      const firsts = mergeChains([accepted.slice(removed), refused, foreign]);
      const n = removed === 4 ? 1 : removed + 1;
      expect(verifyAudit(firsts, sha256, { version: 4 })).toEqual([{ chain: 'accepted', n }]);
      const lasts = mergeChains([accepted.slice(0, -removed), refused, foreign]);
      const missing = 5 - removed;
      expect(verifyAudit(lasts, sha256, { version: 4 })).toEqual([{ chain: 'accepted', n: missing }]);
    }
  });

  it('an accepted chain that begins anew where versions were made before it is found', () => {
    const anew = chain(1, { chain: 'accepted', version: 4 });
    expect(verifyAudit(anew, sha256, { version: 4 })).toEqual([{ chain: 'accepted', n: 1 }]);
  });

  it('an entry that was removed from or put into another chain is found in both', () => {
    const moved = whole.map((entry) =>
      entry === refused[1] ? { ...entry, chain: 'foreign' as const } : entry,
    );
    expect(verifyAudit(moved, sha256, { version: 4 })).toEqual([
      { chain: 'refused', n: 3 },
      { chain: 'foreign', n: 2 },
    ]);
  });

  it('is listed by time, but each chain in its own order, also where the clock stepped back', () => {
    const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();
    const back = [10, 4, 12].map((seconds, n) => ({ ...accepted[n]!, at: at(seconds) }));
    const other = [5, 11].map((seconds, n) => ({ ...refused[n]!, at: at(seconds) }));
    const order = mergeChains([back, other]).map(({ chain: name, n }) => `${name} ${n}`);
    expect(order).toEqual(['refused 1', 'accepted 1', 'accepted 2', 'refused 2', 'accepted 3']);
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
    expect(foreign[0]?.n).toBe(101);
    expect(verifyAudit([...refused, ...foreign], sha256)).toEqual([]);
    expect(verifyAudit(foreign.slice(1), sha256)).toEqual([{ chain: 'foreign', n: 102 }]);
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

  it('has exactly one accepted entry for every version, whatever the step was', async () => {
    const from = await open();
    const { workflowId } = from;
    const all = ports();
    const request = { workflowId, caller, ifMatch: undefined };
    await editPlan(all, { ...request, plan: 'Mine' });
    await extendReview(all, { ...request, seconds: 60, maxSecondsAhead: 100_000 });
    const lock = async () => ({ held: true, release: async () => {} }) as const;
    const feedback = { ...all, lock, planner: async () => answer('Plan B'), onPlannerFault: () => {} };
    await submitFeedback(feedback, { ...request, message: 'x' });
    const approved = await approvePlan(all, request);
    if (!approved.ok) throw new Error(approved.error);
    // Telling the engine and its acknowledgement make no version.
    await store.noteSent(workflowId, approved.state.decision!.id, NOW);
    await store.acknowledge(workflowId, approved.state.decision!.id, []);
    const acted = { ...approved.state.decision!, id: 'older' };
    await settleDecision(store, workflowId, acted, 'Plan B');
    await settleDecision(store, workflowId, acted, 'Plan B');

    const taken = (await open()).workflowId;
    await approvePlan({ ...all, deliver: async () => 'over' }, { ...request, workflowId: taken });
    const unopened = origin();
    await cancelReview(all, unopened, 'ada', undefined, caller);
    const timedOut = await open();
    await closeReview({ store }, timedOut, null);

    const expected = {
      [workflowId]: ['open', 'edit', 'extend', 'feedback', 'approve', 'restore'],
      [taken]: ['open', 'approve', 'withdraw'],
      [unopened.workflowId]: ['cancel'],
      [timedOut.workflowId]: ['open', 'time_out'],
    };
    for (const [id, actions] of Object.entries(expected)) {
      const { state } = await store.load(id as typeof workflowId);
      const { accepted, refused } = await store.audit(id as typeof workflowId);
      expect(accepted.map(({ action }) => action)).toEqual(actions);
      expect(accepted.map(({ version }) => version)).toEqual(actions.map((_, at) => at + 1));
      expect(state?.version).toBe(actions.length);
      const known = { version: actions.length };
      expect(verifyAudit([...accepted, ...refused], sha256, known)).toEqual([]);
      expect(verifyAudit(accepted.slice(0, -1), sha256, known)).toHaveLength(1);
      expect(verifyAudit(accepted.slice(1), sha256, known)).toHaveLength(1);
    }
  });

  it.each([
    ['has another type', async (key: string) => void (await redis.set(key, 'garbage'))],
    ['ends with what is no entry', async (key: string) => void (await redis.rpush(key, '{'))],
  ])(
    'a chain of refusals that %s takes no true refusal from anybody; it is told and left as it is',
    async (_, spoil) => {
      const { workflowId } = await open();
      const { refused } = reviewKeys(workflowId);
      await spoil(refused);
      const before = await redis.dump(refused);
      const told = vi.fn();
      const reported = new ReviewStore(redis, { onRefusalUnrecorded: told });
      const edit = { workflowId, caller, ifMatch: '9', plan: 'x' };
      expect(await editPlan({ ...ports(), store: reported }, edit)).toMatchObject({
        status: 409,
        code: 'version_conflict',
        fields: { version: 1 },
      });
      expect(told.mock.calls).toMatchObject([[{ name: 'UnreadableStateError', key: refused }, workflowId]]);
      expect(await redis.dump(refused)).toEqual(before);
      expect(await editPlan(ports(), { ...edit, ifMatch: '1' })).toMatchObject({ ok: true });
    },
  );

  it('a chain of refusals that always grows first is given up, told, and takes no refusal from anybody', async () => {
    const { workflowId } = await open();
    const { refused } = reviewKeys(workflowId);
    const growing = Object.create(redis, {
      lindex: {
        value: async (key: string, at: number) => {
          const last = await redis.lindex(key, at);
          await redis.rpush(key, JSON.stringify(chain(1, { request_id: `other-${++ids}` })[0]));
          return last;
        },
      },
    }) as typeof redis;
    const told = vi.fn();
    const reported = new ReviewStore(growing, { onRefusalUnrecorded: told });
    const edit = { workflowId, caller, ifMatch: '9', plan: 'x' };
    expect(await editPlan({ ...ports(), store: reported }, edit)).toMatchObject({ code: 'version_conflict' });
    expect(String(told.mock.calls[0]?.[0])).toContain(refused);
  });

  it('is kept for 90 days, longer than the review', async () => {
    const { workflowId } = await open();
    await store.expire(workflowId, 300);
    expect(await redis.ttl(reviewKeys(workflowId).audit)).toBeGreaterThan(89 * 24 * 3_600);
  });
});
