import type { WorkflowEvent } from '@plangate/contracts';
import { splitChains } from '@plangate/review';
import type { Aftermath } from './aftermath.ts';
import { upTo } from './counting.ts';
import type { Life } from './life.ts';

/** What each accepted step of a review announces, by its name in the audit. */
const ANNOUNCES: Record<string, string[]> = {
  open: ['RESEARCH_PLAN_READY'],
  feedback: ['REVIEW_USER_FEEDBACK', 'RESEARCH_PLAN_UPDATED'],
  edit: ['RESEARCH_PLAN_EDITED'],
  extend: ['REVIEW_EXTENDED'],
  approve: ['RESEARCH_PLAN_APPROVED'],
  reject: ['RESEARCH_PLAN_REJECTED'],
  cancel: ['REVIEW_CANCELLED'],
  withdraw: ['REVIEW_CANCELLED'],
  time_out: ['ERROR_OCCURRED', 'REVIEW_TIMED_OUT'],
};
const OF_REVIEW = new Set(Object.values(ANNOUNCES).flat());

/** What the scripted research tells, and how often: two questions, one report. */
const OF_RESEARCH: Record<string, number> = {
  DELEGATION: 1,
  AGENT_STARTED: 3,
  TOOL_INVOKED: 2,
  TOOL_OBSERVATION: 2,
  AGENT_COMPLETED: 3,
  PROGRESS: 2,
  LLM_OUTPUT: 1,
};

/** The story is told once, whole and without gaps, and a reader who came back after every break got just that. */
export function wrongEvents({ following }: Life, { events, review, audit }: Aftermath): string[] {
  const problems: string[] = [];
  const types = events.map(({ type }) => type as string);
  const numbers = events.map(({ seq }) => seq).join();
  if (numbers !== upTo(events.length)) problems.push(`numbers of the events: ${numbers}`);
  if (types[0] !== 'WORKFLOW_STARTED' && review.round > 0) problems.push(`the first event is ${types[0]}`);
  if (count(types, 'WORKFLOW_STARTED') > 1) problems.push('WORKFLOW_STARTED came twice');
  if (types.at(-1) !== 'STREAM_END') problems.push(`the last event is ${types.at(-1)}`);
  if (count(types, 'STREAM_END') > 1) problems.push('STREAM_END came twice');
  const steps = splitChains(audit).accepted.map(({ action }) => action);
  const wanted = announcedBy(steps).join();
  const told = types.filter((type) => OF_REVIEW.has(type)).join();
  if (told !== wanted) problems.push(`events of the review: ${told} instead of ${wanted}`);
  const isReported = types.includes('WORKFLOW_COMPLETED') && review.status === 'approved';
  for (const [type, times] of Object.entries(OF_RESEARCH)) {
    const found = count(types, type);
    if (found > times || (isReported && found < times))
      problems.push(`${type} came ${found} times, not ${times}`);
  }
  if (following) problems.push(...wrongReading(following.events, events));
  return problems;
}

/** An approval that was taken back was never acted upon, and so never announced. */
function announcedBy(steps: string[]): string[] {
  const isWithdrawn = steps.includes('withdraw');
  return steps
    .filter((step) => step !== 'approve' || !isWithdrawn)
    .flatMap((step) => ANNOUNCES[step] ?? [`an unknown step: ${step}`]);
}

/** `STREAM_END` reaches a reader as `done`. */
function wrongReading(got: { seq: number }[], told: WorkflowEvent[]): string[] {
  const numbers = got.map(({ seq }) => seq).join();
  return numbers === upTo(told.length - 1) ? [] : [`a reader of the stream got ${numbers} of ${told.length}`];
}

function count(types: string[], type: string): number {
  return types.filter((other) => other === type).length;
}
