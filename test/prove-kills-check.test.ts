import { createHash } from 'node:crypto';
import type { AuditEntry, ReviewBody, TaskBody, WorkflowEvent } from '@plangate/contracts';
import { expect, it } from 'vitest';
import { type AuditHead, chainEntry, NO_ENTRY } from '../packages/review/src/audit.ts';
import type { Aftermath } from '../prove/kills/aftermath.ts';
import type { Action, Life } from '../prove/kills/life.ts';
import { verify } from '../prove/kills/verify.ts';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const AT = '2026-01-15T10:30:00.000Z';

it('a life whose answers, plans, events and audit agree has no problem', () => {
  const { life, after } = approvedLife();
  expect(verify(life, after, [])).toEqual([]);
});

it.each<[name: string, problem: string, fault: (life: Life, after: Aftermath) => void]>([
  ['a feedback that is lost', 'feedback 0.0 .* is lost', (_, { review }) => review.rounds.splice(1, 2)],
  [
    'an extension that is lost',
    'extend 0.2 .* is lost: the audit',
    ({ actions }) => actions.push(done('extend', 200)),
  ],
  [
    'a cancel that is lost: the approval came later',
    'cancel 0.2 .* is lost: the audit',
    ({ actions }) => actions.push({ ...done('cancel', 202), to: Date.parse(AT) - 1 }),
  ],
  [
    'a rejection that was refused and stands in the audit',
    'reject 0.2 .* is in the audit',
    ({ actions }) => actions.push({ ...done('reject', 409), requestId: 'r1' }),
  ],
  [
    'an answer that stands in the audit as something else',
    'edit 0.2 .* is in the audit as feedback',
    ({ actions }) => actions.push({ ...done('edit', 200), requestId: 'r1' }),
  ],
  [
    'a feedback that is there twice',
    'happened 2 times',
    (_, { review }) => review.rounds.push(...review.rounds.slice(1)),
  ],
  [
    'a feedback that was refused and is there',
    'feedback 0.0 .* happened',
    ({ actions }) => Object.assign(actions[0]!, { status: 409 }),
  ],
  [
    'an approval that is lost',
    'the review is rejected',
    (_, { review }) => Object.assign(review, { status: 'rejected' }),
  ],
  [
    'another plan that ran',
    'ran other, approved',
    (_, { task }) => Object.assign(task.metadata, { plan_sha256: 'other' }),
  ],
  [
    'a task that failed',
    'TASK_STATUS_FAILED',
    (_, { task }) => Object.assign(task, { status: 'TASK_STATUS_FAILED' }),
  ],
  ['an event that is lost', 'numbers of the events', (_, { events }) => events.splice(2, 1)],
  [
    'an approval that was announced twice',
    'events of the review: .*RESEARCH_PLAN_APPROVED,RESEARCH_PLAN_APPROVED',
    (_, { events }) => Object.assign(events[5]!, { type: 'RESEARCH_PLAN_APPROVED' }),
  ],
  [
    'a feedback that was never announced',
    'events of the review: RESEARCH_PLAN_READY,RESEARCH_PLAN_UPDATED',
    (_, { events }) => Object.assign(events[2]!, { type: 'PROGRESS' }),
  ],
  [
    'a report that came twice',
    'LLM_OUTPUT came 2',
    (_, { events }) => Object.assign(events[5]!, { type: 'LLM_OUTPUT' }),
  ],
  ['two ends', 'terminal events', (_, { events }) => Object.assign(events[5]!, { type: 'WORKFLOW_FAILED' })],
  [
    'an audit entry that was changed',
    'chain of the audit does not hold at 2',
    (_, { audit }) => Object.assign(audit[1]!, { by: 'eve' }),
  ],
  ['a version without an audit entry', 'versions in the audit', (_, { audit }) => audit.pop()],
  [
    'a reader who got an event twice',
    'a reader of the stream got',
    ({ following }) => following!.events.push({ seq: 5, type: 'X' }),
  ],
  [
    'a reader who missed an event',
    'a reader of the stream got',
    ({ following }) => following!.events.splice(3, 1),
  ],
  [
    'a plan that ran twice',
    'decompose ran twice without a kill before it',
    ({ calls }) => calls.push({ ...calls[0]!, from: 500, to: 510 }),
  ],
  [
    'work on a plan that was not approved',
    'ran another plan than the approved one',
    ({ calls }) => Object.assign(calls[0]!, { prompt: promptOf('Plan 1') }),
  ],
  ['an approved plan that was not run', 'was not run', ({ calls }) => calls.splice(0)],
  [
    'work without an approval',
    'ran although the review is rejected',
    (_, { review }) => Object.assign(review, { status: 'rejected' }),
  ],
  [
    'a deadline that came too early',
    'timed out too early',
    (_, { audit }) => Object.assign(audit[2]!, { action: 'time_out' }),
  ],
  [
    'an end for another reason than the true one',
    'the review is rejected, but the task TASK_STATUS_CANCELLED: task cancelled',
    (_, { review, task }) => {
      Object.assign(review, { status: 'rejected' });
      Object.assign(task, { status: 'TASK_STATUS_CANCELLED', error: 'task cancelled: cancel 0.0' });
    },
  ],
])('finds %s', (_name, problem, fault) => {
  const { life, after } = approvedLife();
  fault(life, after);
  expect(verify(life, after, []).join('\n')).toMatch(new RegExp(problem));
});

it('a plan that runs again after a kill has broken it off is no problem', () => {
  const { life, after } = approvedLife();
  life.calls.push({ ...life.calls[0]!, from: 500, to: 510 });
  expect(verify(life, after, [{ part: 'orchestrator', at: 400, back: 450 }])).toEqual([]);
});

it('a cancel after the approval, and an approval that is repeated, need no step of their own', () => {
  const { life, after } = approvedLife();
  life.actions.push(
    { ...done('cancel', 202), to: Date.parse(AT) + 1 },
    { ...done('approve', 200), to: Date.parse(AT) + 1 },
  );
  expect(verify(life, after, [])).toEqual([]);
});

/** An action whose request the audit does not have. */
function done(kind: Action['kind'], status: number): Action {
  const text = `${kind} 0.2`;
  return { kind, text, seen: null, bound: false, requestId: 'r9', status, body: {}, from: 0, to: 1 };
}

/** A review with one feedback, approved, and its task's end. */
function approvedLife(): { life: Life; after: Aftermath } {
  const plan = 'Plan 2';
  const seen = { status: 'reviewing', version: 2, plan_sha256: sha256(plan) } as ReviewBody;
  const action = (kind: Action['kind'], text: string, requestId: string): Action => ({
    kind,
    text,
    seen,
    bound: true,
    requestId,
    status: 200,
    body: {},
    from: 0,
    to: 1,
  });
  const types = [
    ...['WORKFLOW_STARTED', 'RESEARCH_PLAN_READY', 'REVIEW_USER_FEEDBACK', 'RESEARCH_PLAN_UPDATED'],
    ...['RESEARCH_PLAN_APPROVED', 'REVIEW_REMINDER', 'DELEGATION'],
    ...[1, 2].flatMap(() => [
      'AGENT_STARTED',
      'TOOL_INVOKED',
      'TOOL_OBSERVATION',
      'AGENT_COMPLETED',
      'PROGRESS',
    ]),
    ...['AGENT_STARTED', 'AGENT_COMPLETED', 'LLM_OUTPUT', 'WORKFLOW_COMPLETED', 'STREAM_END'],
  ];
  const events = types.map((type, at) => ({ seq: at + 1, type })) as WorkflowEvent[];
  const life: Life = {
    id: 'task-1',
    query: 'q',
    script: {
      submitAt: null,
      timeoutSeconds: null,
      delays: { first: 0, feedback: 0, research: 0 },
      people: [],
    },
    submitted: { from: 0, to: 1, status: 200 },
    calls: (['decompose', 'write'] as const).map((kind) => ({
      kind,
      prompt: promptOf(plan),
      from: 2,
      to: 3,
    })),
    actions: [action('feedback', 'feedback 0.0', 'r1'), action('approve', 'approve 0.1', 'r2')],
    following: {
      events: events.slice(0, -1).map(({ seq, type }) => ({ seq, type })),
      done: Promise.resolve(),
      breakOff() {},
      stop() {},
    },
  };
  const review = {
    status: 'approved',
    round: 2,
    version: 3,
    expires_at: new Date(Date.parse(AT) + 60_000).toISOString(),
    current_plan: plan,
    plan_version: 2,
    plan_sha256: sha256(plan),
    rounds: [
      { role: 'assistant', message: 'Plan 1', timestamp: AT },
      { role: 'user', message: 'feedback 0.0', timestamp: AT },
      { role: 'assistant', message: plan, timestamp: AT },
    ],
  } as ReviewBody;
  const task = {
    status: 'TASK_STATUS_COMPLETED',
    result: 'Tides [1]',
    metadata: { plan_sha256: sha256(plan) } as Record<string, unknown>,
  } as TaskBody;
  const versions = ['Plan 1', plan].map((text, at) => ({
    version: at + 1,
    text,
    sha256: sha256(text),
    author: 'assistant' as const,
    created_at: AT,
  }));
  return { life, after: { task, review, versions, events, audit: auditOf(['open', 'feedback', 'approve']) } };
}

function promptOf(plan: string): string {
  return `Approved plan:\n<data id="x">\n${plan}\n</data id="x">`;
}

function auditOf(actions: string[]): AuditEntry[] {
  let head: AuditHead = { n: 0, hash: NO_ENTRY };
  return actions.map((action, at) => {
    const facts = { at: AT, by: 'ada', action, outcome: 'accepted' as const, code: 'ok' };
    const entry = chainEntry(head, { ...facts, version: at + 1, request_id: `r${at}` }, sha256);
    head = entry;
    return entry;
  });
}
