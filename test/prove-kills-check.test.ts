import { createHash } from 'node:crypto';
import type { AuditEntry, ReviewBody, TaskBody, WorkflowEvent } from '@plangate/contracts';
import { expect, it } from 'vitest';
import { type AuditHead, chainEntry, NO_ENTRY } from '../packages/review/src/audit.ts';
import type { Action, Life } from '../prove/kills/life.ts';
import { type Aftermath, verify } from '../prove/kills/verify.ts';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const AT = '2026-01-15T10:30:00.000Z';

it('a life whose answers, plans, events and audit agree has no problem', () => {
  const { life, after } = approvedLife();
  expect(verify(life, after)).toEqual([]);
});

it.each<[name: string, problem: string, fault: (life: Life, after: Aftermath) => void]>([
  ['a feedback that is lost', 'feedback 0.0 .* is lost', (_, { review }) => review.rounds.splice(1, 2)],
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
    'RESEARCH_PLAN_APPROVED came twice',
    (_, { events }) => Object.assign(events[4]!, { type: 'RESEARCH_PLAN_APPROVED' }),
  ],
  ['two ends', 'terminal events', (_, { events }) => Object.assign(events[4]!, { type: 'WORKFLOW_FAILED' })],
  [
    'an audit entry that was changed',
    'chain of the audit is broken',
    (_, { audit }) => Object.assign(audit[1]!, { by: 'eve' }),
  ],
  ['a version without an audit entry', 'versions in the audit', (_, { audit }) => audit.pop()],
  [
    'a reader who got an event twice',
    'a reader of the stream got',
    ({ following }) => following.events.push({ seq: 5, type: 'X' }),
  ],
])('finds %s', (_name, problem, fault) => {
  const { life, after } = approvedLife();
  fault(life, after);
  expect(verify(life, after).join('\n')).toMatch(new RegExp(problem));
});

/** A review with one feedback, approved, and its task's end. */
function approvedLife(): { life: Life; after: Aftermath } {
  const plan = 'Plan 2';
  const seen = { status: 'reviewing', version: 2, plan_sha256: sha256(plan) } as ReviewBody;
  const action = (kind: Action['kind'], text: string): Action => ({
    kind,
    text,
    seen,
    bound: true,
    status: 200,
    body: {},
  });
  const types = [
    'WORKFLOW_STARTED',
    'RESEARCH_PLAN_READY',
    'REVIEW_USER_FEEDBACK',
    'RESEARCH_PLAN_UPDATED',
    'PROGRESS',
    'RESEARCH_PLAN_APPROVED',
    'WORKFLOW_COMPLETED',
    'STREAM_END',
  ];
  const events = types.map((type, at) => ({ seq: at + 1, type })) as WorkflowEvent[];
  const life: Life = {
    id: 'task-1',
    query: 'q',
    script: { timeoutSeconds: null, modelDelay: 0, people: [] },
    actions: [action('feedback', 'feedback 0.0'), action('approve', 'approve 0.1')],
    following: {
      events: events.slice(0, -1).map(({ seq, type }) => ({ seq, type })),
      done: Promise.resolve(),
      stop() {},
    },
  };
  const review = {
    status: 'approved',
    version: 3,
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

function auditOf(actions: string[]): AuditEntry[] {
  let head: AuditHead = { n: 0, hash: NO_ENTRY };
  return actions.map((action, at) => {
    const facts = { at: AT, by: 'ada', action, outcome: 'accepted' as const, code: 'ok' };
    const entry = chainEntry(head, { ...facts, version: at + 1, request_id: `r${at}` }, sha256);
    head = entry;
    return entry;
  });
}
