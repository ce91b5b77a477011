import { describe, expect, it } from 'vitest';
import { decide, type ReviewState } from '../src/index.ts';
import {
  after,
  allowed,
  answer,
  approve,
  feedback,
  hashed,
  NOW,
  opened,
  question,
  reject,
  situation,
} from './reviews.ts';

function refusal(state: ReviewState | null, command: Parameters<typeof decide>[1], change = {}) {
  const outcome = decide(situation(state, change), command);
  if (outcome.ok) throw new Error('was allowed');
  return { status: outcome.status, error: outcome.error, fields: outcome.fields };
}

describe('opening a review', () => {
  it('a first plan with intent ready is version 1, round 1 and can be approved', () => {
    const state = opened();
    expect(state).toMatchObject({
      version: 1,
      round: 1,
      status: 'reviewing',
      current_plan: 'Plan A',
      plan_version: 1,
    });
    expect(state.expires_at).toBe('2026-01-15T10:45:00.000Z');
  });

  it('P05 a clarifying question first leaves current_plan empty, and approve is 400 with the documented text', () => {
    const state = opened(question('Which region?'));
    expect(state.current_plan).toBe('');
    expect(refusal(state, approve())).toMatchObject({
      status: 400,
      error: 'No research plan to approve. Please provide feedback to generate a plan first.',
    });
  });

  it('creating twice keeps the first review', () => {
    const state = opened();
    const again = decide(situation(state), {
      type: 'create',
      origin: { workflowId: 'x' as never, owner: state.owner!, query: 'q', maxRounds: 3 },
      timeoutSeconds: 1,
      ...hashed(answer('Other')),
    });
    expect(again).toMatchObject({ ok: true, transition: null, state: { current_plan: 'Plan A' } });
  });

  it('announces the plan with round, intent, version and deadline', () => {
    const state = opened();
    const { transition } = allowed(
      decide(situation(null), {
        type: 'create',
        origin: { workflowId: state.workflow_id as never, owner: state.owner!, query: 'q', maxRounds: 10 },
        timeoutSeconds: 900,
        ...hashed(answer('Plan A')),
      }),
    );
    expect(transition?.events).toEqual([
      {
        type: 'RESEARCH_PLAN_READY',
        agent_id: 'planner',
        message: 'Plan A',
        payload: { round: 1, intent: 'ready', version: 1, expires_at: '2026-01-15T10:45:00.000Z' },
      },
    ]);
  });
});

describe('feedback', () => {
  it('adds two rounds, raises version and round by one, and the answer becomes the plan', () => {
    const state = opened();
    const next = after(state, feedback(state, 'More on prices', answer('Plan B')));
    expect(next).toMatchObject({ version: 2, round: 2, current_plan: 'Plan B', plan_version: 2 });
    expect(next.rounds.map(({ role, message }) => [role, message])).toEqual([
      ['assistant', 'Plan A'],
      ['user', 'More on prices'],
      ['assistant', 'Plan B'],
    ]);
  });

  it('a question never replaces the plan', () => {
    const state = opened();
    const next = after(state, feedback(state, 'hm', question('Which one?')));
    expect(next).toMatchObject({ current_plan: 'Plan A', intent: 'feedback', plan_version: 1, version: 2 });
  });

  it('an answer that starts the work keeps the plan as it is', () => {
    const state = opened();
    const next = after(state, feedback(state, 'go', answer('Starting now.', { plan: null })));
    expect(next).toMatchObject({ current_plan: 'Plan A', intent: 'ready' });
  });

  it('a plan that comes with intent feedback is not taken: text never decides', () => {
    const state = opened(question('Which?'));
    const next = after(state, feedback(state, 'x', answer('Sneaky', { intent: 'feedback' })));
    expect(next.current_plan).toBe('');
  });

  it('P37 after 10 feedbacks the 11th is 409 with the documented text, and approve still works', () => {
    let state = opened();
    for (let n = 1; n <= 10; n += 1) state = after(state, feedback(state, `f${n}`, answer(`Plan ${n}`)));
    expect(state.round).toBe(11);
    expect(refusal(state, { type: 'begin_feedback', by: 'ada' })).toMatchObject({
      status: 409,
      error: 'Maximum review rounds reached. Please approve the plan.',
    });
    expect(after(state, approve()).status).toBe('approved');
  });

  it('the answer to the last feedback counts as a plan, even a question', () => {
    const state = opened(question('Which?'), 1);
    const next = after(state, feedback(state, 'you choose', question('Really?')));
    expect(next).toMatchObject({ intent: 'ready', current_plan: 'Really?' });
  });

  it.each([
    [
      'an edit',
      { type: 'edit', plan: { text: 'Mine', sha256: 'a'.repeat(64) }, by: 'ada' } as const,
      'Conflict: state has been modified',
    ],
    ['an approval', approve(), 'Review already approved'],
    ['a rejection', reject(), 'Review is closed: rejected'],
  ])('%s that comes between look and commit makes it a conflict', (_name, between, text) => {
    const state = opened();
    const commit = feedback(state, 'x', answer('Plan B'));
    expect(refusal(after(state, between), commit)).toMatchObject({ status: 409, error: text });
  });

  it('an extension between look and commit does not disturb it', () => {
    const state = opened();
    const commit = feedback(state, 'x', answer('Plan B'));
    const extended = after(state, { type: 'extend', seconds: 60, maxSecondsAhead: 2_592_000, by: 'ada' });
    expect(after(extended, commit)).toMatchObject({ version: 3, current_plan: 'Plan B' });
  });
});

describe('decisions', () => {
  it('P10 approve raises the version and records who, when and which plan', () => {
    const state = after(opened(), approve('1'));
    expect(state).toMatchObject({ status: 'approved', version: 2 });
    expect(state.decision).toEqual({
      id: 'd1',
      action: 'approve',
      by: 'ada',
      at: new Date(NOW).toISOString(),
      version: 2,
      plan_sha256: state.plan_sha256,
    });
  });

  it('approve again is allowed without a change, whatever If-Match says', () => {
    const state = after(opened(), approve());
    expect(decide(situation(state), approve('99'))).toMatchObject({ ok: true, transition: null });
  });

  it('P100 a stale approve is 409 with the text for plans and the current version', () => {
    expect(refusal(opened(), approve('9'))).toEqual({
      status: 409,
      error: 'Conflict: plan has been updated. Please review the latest version.',
      fields: { version: 1 },
    });
  });

  it('approve while a feedback is in flight is 409, before the empty plan is', () => {
    expect(refusal(opened(question('?')), approve(), { feedbackInFlight: true })).toMatchObject({
      error: 'A feedback request is in progress. Please wait and try again.',
    });
  });

  it('P87 an approve without If-Match stays bound to the plan that it was first decided on', () => {
    const bound = { ...approve(), boundTo: 'b'.repeat(64) } as Parameters<typeof decide>[1];
    expect(refusal(opened(), bound)).toMatchObject({ status: 409 });
  });

  it('reject again is allowed without a change; approve after it is 409', () => {
    const state = after(opened(), reject('too broad'));
    expect(decide(situation(state), reject())).toMatchObject({ ok: true, transition: null });
    expect(refusal(state, approve())).toMatchObject({ status: 409, error: 'Review is closed: rejected' });
  });

  it('an edited plan is what the next feedback revises and what is approved', () => {
    const mine = { text: 'My plan', sha256: 'c'.repeat(64) };
    const state = after(opened(question('?')), { type: 'edit', plan: mine, by: 'ada' }, approve());
    expect(state).toMatchObject({ current_plan: 'My plan', plan_sha256: mine.sha256, status: 'approved' });
  });

  it('extend moves the deadline, but not to more than 30 days ahead', () => {
    const extend = { type: 'extend', seconds: 60, maxSecondsAhead: 1_000, by: 'ada' } as const;
    expect(after(opened(), extend).expires_at).toBe('2026-01-15T10:46:00.000Z');
    expect(refusal(opened(), { ...extend, seconds: 500 })).toMatchObject({
      status: 400,
      error: 'deadline is more than 30 days away',
    });
  });
});

describe('the end of a review', () => {
  const known = opened();
  const base = { workflowId: known.workflow_id as never, owner: known.owner!, query: 'q', maxRounds: 10 };

  it('P12 a time-out closes it at the deadline that fired, with the documented order of events', () => {
    const { state, transition } = allowed(
      decide(situation(known), { type: 'close', deadline: known.expires_at, origin: base }),
    );
    expect(state.status).toBe('timed_out');
    expect(transition?.events.map(({ type }) => type)).toEqual(['ERROR_OCCURRED', 'REVIEW_TIMED_OUT']);
  });

  it('a deadline that has moved closes nothing', () => {
    const extended = after(known, { type: 'extend', seconds: 60, maxSecondsAhead: 1e9, by: 'ada' });
    expect(
      decide(situation(extended), { type: 'close', deadline: known.expires_at, origin: base }),
    ).toMatchObject({ transition: null, state: { status: 'reviewing' } });
  });

  it('an approval just before the deadline wins', () => {
    const approved = after(known, approve());
    expect(
      decide(situation(approved), { type: 'close', deadline: known.expires_at, origin: base }),
    ).toMatchObject({ transition: null, state: { status: 'approved' } });
  });

  it('cancel before the first plan writes a closed review, so that none is opened later', () => {
    const cancel = { type: 'cancel', decisionId: 'c', by: 'ada', origin: base } as const;
    const { state } = allowed(decide(situation(null), cancel));
    expect(state).toMatchObject({
      status: 'cancelled',
      version: 1,
      round: 0,
      rounds: [],
      current_plan: '',
      intent: '',
    });
    const create = { type: 'create', origin: base, timeoutSeconds: 9, ...hashed(answer('P')) } as const;
    expect(decide(situation(state), create)).toMatchObject({
      transition: null,
      state: { status: 'cancelled' },
    });
  });

  it('cancel leaves an approved review as it is', () => {
    const approved = after(known, approve());
    const cancel = { type: 'cancel', decisionId: 'c', by: 'ada', origin: base } as const;
    expect(decide(situation(approved), cancel)).toMatchObject({ transition: null });
  });

  it('an approval that no run will act upon is taken back, and only that one', () => {
    const approved = after(known, approve());
    expect(after(approved, { type: 'withdraw', decisionId: 'd1' })).toMatchObject({
      status: 'cancelled',
      decision: { action: 'cancel', by: 'system' },
    });
    expect(decide(situation(approved), { type: 'withdraw', decisionId: 'other' })).toMatchObject({
      transition: null,
    });
  });

  it('a decision that the store lost is written back with its plan', () => {
    const approved = after(known, feedback(known, 'x', answer('Plan B')), approve());
    const restored = after(known, {
      type: 'settle',
      decision: approved.decision!,
      plan: { text: 'Plan B', sha256: approved.plan_sha256 },
    });
    expect(restored).toMatchObject({ status: 'approved', current_plan: 'Plan B', decision: { id: 'd1' } });
  });

  it.each(['approved', 'rejected', 'cancelled', 'timed_out'] as const)(
    'nothing but its own repetition is allowed once it is %s',
    (status) => {
      const closed: ReviewState = { ...known, status };
      const text = status === 'approved' ? 'Review already approved' : `Review is closed: ${status}`;
      for (const command of [
        { type: 'begin_feedback', by: 'ada' },
        { type: 'edit', plan: { text: 'x', sha256: 'd'.repeat(64) }, by: 'ada' },
        { type: 'extend', seconds: 1, maxSecondsAhead: 99_999, by: 'ada' },
      ] as const) {
        expect(refusal(closed, command)).toMatchObject({ status: 409, error: text });
      }
    },
  );
});
