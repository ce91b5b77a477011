import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Command, decide, isFinalRound, publicBody, type ReviewState } from '../src/index.ts';
import { sha256 } from '../src/use-cases/index.ts';
import { answer, hashed, NOW, origin } from './reviews.ts';

const MONTH = 2_592_000;
const TIMEOUT = 900;
const RUNS = 3_000;

/** What a review is to this test: as little as the contract says, kept in words of its own. */
interface Model {
  status: string;
  version: number;
  /** Version of the last change that a feedback in flight would be overtaken by. */
  content: number;
  feedbacks: number;
  max: number;
  /** The texts of the conversation. */
  said: string[];
  plan: string;
  planVersion: number;
  intent: string;
  deadline: number;
  decision: string | null;
}

/** One thing that happens; `tag` is what a client sends as If-Match. */
type Step = { wait: number } & (
  | { do: 'create' | 'cancel' | 'close_now' }
  | {
      do: 'begin' | 'approve' | 'edit' | 'reject';
      tag: Tag;
      busy: boolean;
      n: number;
      bound?: 'same' | 'other';
    }
  | { do: 'extend'; tag: Tag; seconds: number }
  | { do: 'commit'; reply: Reply; behind: number; n: number }
  | { do: 'close'; late: number }
  | { do: 'withdraw' | 'settle'; known: boolean; action: 'approve' | 'reject' | 'cancel'; n: number }
);
type Tag = 'none' | 'current' | 'quoted' | 'any' | 'zero' | 'list' | 'stale' | 'weak' | 'text' | 'padded';
/** What the model says: `keep` is ready without a new text. */
type Reply = 'ready' | 'ask' | 'keep' | 'brief';

const tag = fc.constantFrom<Tag>(
  ...(['none', 'current', 'quoted', 'any', 'zero', 'list', 'stale', 'weak', 'text', 'padded'] as const),
);
const n = fc.nat(9);
const wait = fc.constantFrom(0, 1, 60_000);
const person = { wait, tag, busy: fc.boolean(), n };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ wait, do: fc.constantFrom('create' as const) }),
  { weight: 4, arbitrary: fc.record({ ...person, do: fc.constant('begin' as const) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      wait,
      do: fc.constant('commit' as const),
      reply: fc.constantFrom<Reply>('ready', 'ask', 'keep', 'brief'),
      behind: fc.constantFrom(0, 0, 0, 0, 0, 1),
      n,
    }),
  },
  { weight: 6, arbitrary: fc.record({ ...person, do: fc.constant('edit' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...person,
      do: fc.constant('approve' as const),
      bound: fc.constantFrom('same' as const, 'other' as const),
    }),
  },
  fc.record({ ...person, do: fc.constant('reject' as const) }),
  {
    weight: 4,
    arbitrary: fc.record({
      wait,
      do: fc.constant('extend' as const),
      tag,
      seconds: fc.constantFrom(1, 600, MONTH - 1_000, MONTH),
    }),
  },
  fc.record({ wait, do: fc.constantFrom('cancel' as const, 'close_now' as const) }),
  fc.record({ wait, do: fc.constant('close' as const), late: fc.constantFrom(0, 1) }),
  { weight: 3, arbitrary: afterwards('withdraw') },
  afterwards('settle'),
);

function afterwards(what: 'withdraw' | 'settle') {
  return fc.record({
    wait,
    do: fc.constant(what),
    known: fc.boolean(),
    action: fc.constantFrom('approve' as const, 'reject' as const, 'cancel' as const),
    n,
  });
}

it('any sequence of commands leaves the review that a small model of the contract says, or is refused for its reason', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 10), fc.array(step, { maxLength: 40, size: 'max' }), (max, steps) => {
      let model: Model | null = null;
      let state: ReviewState | null = null;
      let now = NOW;
      for (const [at, taken] of steps.entries()) {
        now += taken.wait;
        if (isUnbegun(taken, model)) continue;
        const command = commandOf(taken, model, state, max, at);
        const expected = predict(model, taken, max, now, at);
        const busy = 'busy' in taken && taken.busy;
        const before = structuredClone(state);
        const outcome = decide({ state, now, feedbackInFlight: busy }, command);
        expect(state).toEqual(before);
        if (typeof expected === 'string') {
          expect(outcome).toMatchObject({ ok: false, code: expected });
          if (state && !outcome.ok) expect(outcome.fields).toEqual({ version: state.version });
          count(seen, `${taken.do}: ${expected}`);
          continue;
        }
        if (!outcome.ok) throw new Error(`${taken.do} was refused: ${outcome.error}`);
        const changes = expected !== model && expected.version !== model?.version;
        expect(outcome.transition !== null).toBe(changes);
        count(seen, `${taken.do}: ${changes ? 'done' : 'nothing to do'}`);
        if (outcome.transition) {
          expect(outcome.transition.state).toEqual(outcome.state);
          checkEvents(outcome.transition.events, outcome.state);
          checkPlan(outcome.transition.plan, state, outcome.state);
          checkDelivery(taken.do, outcome.transition);
        }
        model = expected;
        state = outcome.state;
        checkState(state, model);
      }
    }),
    { numRuns: RUNS },
  );
  // A model that is never in doubt proves nothing: every outcome was reached.
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining(REACHED));
});

const REACHED = [
  'approve: done',
  'approve: feedback_in_flight',
  'approve: no_plan',
  'approve: nothing to do',
  'approve: review_closed',
  'approve: review_not_found',
  'approve: version_conflict',
  'begin: max_rounds',
  'begin: review_approved',
  'begin: version_conflict',
  'cancel: done',
  'cancel: nothing to do',
  'close: done',
  'close: nothing to do',
  'commit: done',
  'commit: review_approved',
  'commit: version_conflict',
  'edit: done',
  'edit: review_approved',
  'edit: version_conflict',
  'extend: deadline_too_far',
  'extend: done',
  'reject: done',
  'reject: nothing to do',
  'settle: done',
  'settle: nothing to do',
  'withdraw: done',
  'withdraw: nothing to do',
];

it('an extend between the two halves of a feedback never disturbs it, everything else that changes does', () => {
  const between = fc.array(step, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(between, (steps) => {
      let state: ReviewState | null = stateOf(null, { do: 'create', wait: 0 }, 10, 0);
      const basis = state.content_version;
      let others = 0;
      for (const [at, taken] of steps.entries()) {
        const outcome: ReturnType<typeof decide> = decide(
          { state, now: NOW, feedbackInFlight: 'busy' in taken && taken.busy },
          commandOf(taken, modelOf(state), state, 10, at + 1),
        );
        if (!outcome.ok || !outcome.transition) continue;
        state = outcome.state;
        if (taken.do !== 'extend') others += 1;
      }
      const reply = hashed(answer('New'));
      const commit: Command = { type: 'commit_feedback', message: 'm', basis, by: 'ada', ...reply };
      const outcome = decide({ state, now: NOW, feedbackInFlight: true }, commit);
      expect(outcome.ok).toBe(others === 0);
    }),
    { numRuns: RUNS },
  );
});

/** A commit at the limit: its begin was refused, so that it never comes. */
function isUnbegun(taken: Step, model: Model | null): boolean {
  if (taken.do !== 'commit' || taken.behind > 0 || model?.status !== 'reviewing') return false;
  return model.feedbacks >= model.max;
}

/** What must become of a step: the next model, or the code of the refusal. */
function predict(model: Model | null, taken: Step, max: number, now: number, at: number): Model | string {
  if (taken.do === 'create') return model ?? fresh(max, now);
  if (!model) {
    if (taken.do === 'cancel') return { ...closedUnborn(max, now), status: 'cancelled', decision: `d${at}` };
    if (taken.do === 'close' || taken.do === 'close_now') {
      return { ...closedUnborn(max, now), status: 'timed_out' };
    }
    return 'review_not_found';
  }
  const open = model.status === 'reviewing';
  const next = { ...model, version: model.version + 1, content: model.version + 1 };
  const shut = model.status === 'approved' ? 'review_approved' : 'review_closed';
  const stale = 'tag' in taken && !fits(taken.tag, model.version);
  switch (taken.do) {
    case 'begin':
      if (!open) return shut;
      if (stale) return 'version_conflict';
      return model.feedbacks >= max ? 'max_rounds' : model;
    case 'commit':
      if (!open) return shut;
      if (taken.behind > 0) return 'version_conflict';
      return answered(next, taken, max, at);
    case 'edit':
      if (!open) return shut;
      if (stale) return 'version_conflict';
      return { ...next, plan: `edit ${taken.n}`, planVersion: next.version, intent: 'ready' };
    case 'approve':
      if (model.status === 'approved') return model;
      if (!open) return shut;
      if (stale || taken.bound === 'other') return 'version_conflict';
      if (taken.busy) return 'feedback_in_flight';
      if (model.plan === '') return 'no_plan';
      return { ...next, status: 'approved', decision: `d${at}` };
    case 'reject':
      if (model.status === 'rejected') return model;
      if (!open) return shut;
      return stale ? 'version_conflict' : { ...next, status: 'rejected', decision: `d${at}` };
    case 'extend': {
      if (!open) return shut;
      if (stale) return 'version_conflict';
      const deadline = model.deadline + taken.seconds * 1_000;
      if (deadline > now + MONTH * 1_000) return 'deadline_too_far';
      return { ...next, content: model.content, deadline };
    }
    case 'cancel':
      return open ? { ...next, status: 'cancelled', decision: `d${at}` } : model;
    case 'close':
      return open && taken.late === 0 ? { ...next, status: 'timed_out' } : model;
    case 'close_now':
      return open ? { ...next, status: 'timed_out' } : model;
    case 'withdraw':
      if (model.status !== 'approved' || !taken.known) return model;
      return { ...next, status: 'cancelled', decision: `withdraw:${model.decision}` };
    case 'settle': {
      if (taken.known && model.decision !== null) return model;
      const status = { approve: 'approved', reject: 'rejected', cancel: 'cancelled' }[taken.action];
      const settled = { ...next, status, decision: `run ${at}` };
      const same = taken.action !== 'approve' || model.plan === `plan ${taken.n}`;
      return same ? settled : { ...settled, plan: `plan ${taken.n}`, planVersion: next.version };
    }
  }
}

function answered(next: Model, taken: Extract<Step, { do: 'commit' }>, max: number, at: number): Model {
  const final = next.feedbacks + 1 >= max;
  const said = [...next.said, `message ${at}`, `plan ${taken.n}`];
  const grown = { ...next, feedbacks: next.feedbacks + 1, said };
  const withPlan = { ...grown, intent: 'ready', plan: `plan ${taken.n}`, planVersion: next.version };
  if (taken.reply === 'ready' || taken.reply === 'brief') return withPlan;
  if (taken.reply === 'keep' && next.plan !== '') return { ...grown, intent: 'ready' };
  return final ? withPlan : { ...grown, intent: 'feedback' };
}

/** The first answer is a question or a plan, by whether more than one feedback is allowed. */
function fresh(max: number, now: number): Model {
  const isQuestion = max === 2;
  return {
    ...closedUnborn(max, now),
    status: 'reviewing',
    said: ['first'],
    plan: isQuestion ? '' : 'first',
    planVersion: isQuestion ? 0 : 1,
    intent: isQuestion ? 'feedback' : 'ready',
    deadline: now + TIMEOUT * 1_000,
  };
}

function closedUnborn(max: number, now: number): Model {
  return {
    status: '',
    version: 1,
    content: 1,
    feedbacks: 0,
    max,
    said: [],
    plan: '',
    planVersion: 0,
    intent: '',
    deadline: now,
    decision: null,
  };
}

function fits(sent: Tag, version: number): boolean {
  if (sent === 'zero') return version === 1;
  return ['none', 'current', 'quoted', 'any', 'list'].includes(sent);
}

function headerOf(sent: Tag, version: number): string | undefined {
  const headers: Record<Tag, string | undefined> = {
    none: undefined,
    current: String(version),
    quoted: `"${version}"`,
    any: '*',
    zero: '0',
    list: `"${version + 7}", "${version}"`,
    stale: `"${version - 1 || 99}"`,
    weak: `W/"${version}"`,
    text: 'latest',
    padded: `0${version}`,
  };
  return headers[sent];
}

function commandOf(
  taken: Step,
  model: Model | null,
  state: ReviewState | null,
  max: number,
  at: number,
): Command {
  const given = { by: 'ada', ifMatch: 'tag' in taken ? headerOf(taken.tag, model?.version ?? 1) : undefined };
  const decisionId = `d${at}`;
  switch (taken.do) {
    case 'create': {
      const first = max === 2 ? answer('first', { intent: 'feedback', plan: null }) : answer('first');
      return { type: 'create', origin: origin(max), timeoutSeconds: TIMEOUT, ...hashed(first) };
    }
    case 'begin':
      return { type: 'begin_feedback', ...given };
    case 'commit': {
      const { n, reply, behind } = taken;
      const basis = (model?.content ?? 1) - behind;
      return { type: 'commit_feedback', message: `message ${at}`, basis, by: 'ada', ...replyOf(reply, n) };
    }
    case 'edit':
      return { type: 'edit', plan: text(`edit ${taken.n}`), ...given };
    case 'approve': {
      const boundTo = taken.bound === 'other' ? sha256('another') : state?.plan_sha256;
      return { type: 'approve', decisionId, boundTo, ...given };
    }
    case 'reject':
      return { type: 'reject', decisionId, reason: `reason ${taken.n}`, ...given };
    case 'extend':
      return { type: 'extend', seconds: taken.seconds, maxSecondsAhead: MONTH, ...given };
    case 'cancel':
      return { type: 'cancel', decisionId, by: 'ada', origin: origin(max) };
    case 'close': {
      const deadline = new Date((model?.deadline ?? NOW) + taken.late * 1_000).toISOString();
      return { type: 'close', deadline, origin: origin(max) };
    }
    case 'close_now':
      return { type: 'close', deadline: null, origin: origin(max) };
    case 'withdraw':
      return { type: 'withdraw', decisionId: taken.known ? (model?.decision ?? '') : 'unknown' };
    case 'settle': {
      const plan = text(`plan ${taken.n}`);
      const known = taken.known ? state?.decision : null;
      const decision = known ?? {
        id: `run ${at}`,
        action: taken.action,
        by: 'ada',
        at: new Date(NOW).toISOString(),
        version: 1,
        plan_sha256: plan.sha256,
      };
      return { type: 'settle', decision, plan };
    }
  }
}

function replyOf(reply: Reply, n: number) {
  const message = `plan ${n}`;
  if (reply === 'ask') return hashed(answer(message, { intent: 'feedback', plan: null }));
  if (reply === 'keep') return hashed(answer(message, { plan: null }));
  return hashed(answer(message, reply === 'brief' ? { research_brief: 'brief' } : {}));
}

const text = (value: string) => ({ text: value, sha256: sha256(value) });

function stateOf(state: ReviewState | null, taken: Step, max: number, at: number): ReviewState {
  const outcome = decide(
    { state, now: NOW, feedbackInFlight: false },
    commandOf(taken, modelOf(state), state, max, at),
  );
  if (!outcome.ok) throw new Error(outcome.error);
  return outcome.state;
}

function modelOf(state: ReviewState | null): Model | null {
  if (!state) return null;
  const decision = state.decision?.id ?? null;
  const deadline = Date.parse(state.expires_at);
  const { version, content_version: content } = state;
  return { ...closedUnborn(state.max_rounds, NOW), version, content, decision, deadline };
}

function checkState(state: ReviewState, model: Model): void {
  const body = publicBody(state);
  expect({
    status: body.status,
    version: body.version,
    content: state.content_version,
    feedbacks: body.max_rounds - body.feedbacks_left,
    max: body.max_rounds,
    said: body.rounds.map(({ message }) => message),
    plan: body.current_plan,
    planVersion: body.plan_version,
    intent: body.intent,
    deadline: Date.parse(body.expires_at),
    decision: state.decision?.id ?? null,
  }).toEqual(model);
  expect(body.plan_sha256).toBe(model.plan === '' ? '' : sha256(model.plan));
  expect(body.round).toBe(model.said.length === 0 ? 0 : model.feedbacks + 1);
  expect(body.rounds.map(({ role }) => role)).toEqual(
    model.said.map((_, place) => (place % 2 === 1 ? 'user' : 'assistant')),
  );
  expect(state.decision !== null).toBe(['approved', 'rejected', 'cancelled'].includes(model.status));
  if (state.status === 'approved') expect(state.decision?.plan_sha256).toBe(state.plan_sha256);
  if (state.status === 'reviewing') expect(isFinalRound(state)).toBe(model.feedbacks + 1 >= model.max);
}

function checkEvents(events: { type: string; payload?: Record<string, unknown> }[], state: ReviewState) {
  for (const { type, payload } of events) {
    if (type !== 'ERROR_OCCURRED') expect([type, payload?.['version']]).toEqual([type, state.version]);
  }
}

function checkPlan(
  plan: { version: number; text: string; sha256: string } | undefined,
  before: ReviewState | null,
  after: ReviewState,
) {
  const became = after.plan_version !== (before?.plan_version ?? 0);
  expect(plan !== undefined).toBe(became);
  if (!plan) return;
  const { version, current_plan, plan_sha256 } = after;
  expect([plan.version, plan.text, plan.sha256]).toEqual([version, current_plan, plan_sha256]);
}

/** Only what a person decided has to reach the workflow; only an approval waits for a feedback in flight. */
function checkDelivery(
  kind: Step['do'],
  { undelivered, excludesFeedback }: { undelivered?: boolean; excludesFeedback?: boolean },
) {
  const decides = ['approve', 'reject', 'cancel'].includes(kind);
  const ends = kind === 'withdraw' || kind === 'settle';
  expect(undelivered).toBe(decides ? true : ends ? false : undefined);
  expect(excludesFeedback === true).toBe(kind === 'approve');
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1);
}
