import type { ReviewBody, TaskBody } from '@plangate/contracts';
import { splitChains } from '@plangate/review';
import { wrongChains } from '../audit-chains.ts';
import { sha256 } from '../sha256.ts';
import type { Aftermath } from './aftermath.ts';
import { upTo } from './counting.ts';
import type { Life } from './life.ts';
import { wrongAnswers } from './verify-answers.ts';
import { wrongEvents } from './verify-events.ts';
import { type Kill, wrongRuns } from './verify-runs.ts';

/** What is wrong with the end of a life: `[]` where nothing was lost, doubled or made up. */
export function verify(life: Life, after: Aftermath, kills: Kill[]): string[] {
  return [
    ...wrongEnd(life, after),
    ...wrongAnswers(life, after),
    ...wrongRecords(after),
    ...wrongEvents(life, after),
    ...wrongRuns(life, after, kills),
  ];
}

const TERMINAL = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED'];
interface End {
  status: string;
  error: RegExp;
  terminal: string;
}
const CANCELLED: End = {
  status: 'TASK_STATUS_CANCELLED',
  error: /^task cancelled: cancel /,
  terminal: 'WORKFLOW_CANCELLED',
};
const ENDS: Record<string, End> = {
  approved: { status: 'TASK_STATUS_COMPLETED', error: /^$/, terminal: 'WORKFLOW_COMPLETED' },
  rejected: {
    status: 'TASK_STATUS_CANCELLED',
    error: /^research plan rejected: reject /,
    terminal: 'WORKFLOW_CANCELLED',
  },
  cancelled: CANCELLED,
  timed_out: {
    status: 'TASK_STATUS_COMPLETED',
    error: /^research plan review timed out$/,
    terminal: 'WORKFLOW_COMPLETED',
  },
};

/** The task ends as its review says, an approved one with the plan that was seen. */
function wrongEnd(life: Life, { task, review, events, audit }: Aftermath): string[] {
  const problems: string[] = [];
  const { actions, script } = life;
  const error = task.error ?? '';
  // A cancel after an approval ends the task as a cancel; any other end of the review stands.
  const cancelAsked = actions.some(({ kind, status }) => kind === 'cancel' && [202, 503, 0].includes(status));
  const cancelledLater = review.status === 'approved' && cancelAsked && CANCELLED.error.test(error);
  const wanted = cancelledLater ? CANCELLED : ENDS[review.status];
  if (!wanted) return [`the review is ${review.status} after the end of its task`];
  if (task.status !== wanted.status || !wanted.error.test(error)) {
    problems.push(`the review is ${review.status}, but the task ${task.status}: ${error}`);
  }
  const terminals = events.map(({ type }) => type).filter((type) => TERMINAL.includes(type));
  if (terminals.join() !== wanted.terminal) problems.push(`terminal events ${terminals.join()}`);
  const timedOut = audit.find(({ action, outcome }) => action === 'time_out' && outcome === 'accepted');
  const tooEarly = timedOut && Date.parse(timedOut.at) < Date.parse(review.expires_at);
  if (timedOut && (script.timeoutSeconds === null || tooEarly)) problems.push('timed out too early');
  if (review.status !== 'approved' || cancelledLater) return problems;
  return [...problems, ...wrongResult(life, task, review)];
}

function wrongResult({ actions }: Life, task: TaskBody, review: ReviewBody): string[] {
  const problems: string[] = [];
  const { plan_sha256 } = task.metadata as { plan_sha256?: string };
  if (plan_sha256 !== review.plan_sha256) problems.push(`ran ${plan_sha256}, approved ${review.plan_sha256}`);
  if (!task.result?.includes('[1]')) problems.push('the report has no citation');
  for (const { kind, bound, status, seen } of actions) {
    if (kind !== 'approve' || !bound || status !== 200 || seen?.status !== 'reviewing') continue;
    // A 200 to somebody who approved late belongs to the approval that stands.
    if (seen.version + 1 === review.version && seen.plan_sha256 !== plan_sha256) {
      problems.push(`ran another plan than was seen: ${plan_sha256}`);
    }
  }
  return problems;
}

/** The audit is whole and has every version once; the plan that stands is the newest one. */
function wrongRecords({ audit, review, versions }: Aftermath): string[] {
  const problems = wrongChains(audit, review.version);
  const kept = splitChains(audit)
    .accepted.map(({ version }) => version)
    .join();
  if (kept !== upTo(review.version)) problems.push(`versions in the audit: ${kept} of ${review.version}`);
  const plan = versions.at(-1);
  if (plan && (plan.text !== review.current_plan || plan.version !== review.plan_version)) {
    problems.push('the newest plan is not the current one');
  }
  if (versions.some(({ text, sha256: hash }) => sha256(text) !== hash)) {
    problems.push('a plan has another hash');
  }
  return problems;
}
