import type { TaskInput } from '@plangate/contracts';
import { isCancellation, log } from '@temporalio/workflow';
import type { ChosenPlan, OpenedReview, WorkflowEnd } from '../activities/index.ts';
import { agents, stores } from './activities.ts';
import { conductResearch } from './conduct-research.ts';
import { TaskControl } from './control.ts';
import { reasonOf, runTask } from './lifecycle.ts';
import { ReviewWait, type Verdict } from './review-wait.ts';

/**
 * Research: a plan, where asked for a person's review of it, then exactly the approved plan, then the cited report
 * (design §5). Every handler is set before the first await.
 */
export async function ResearchWorkflow(input: TaskInput): Promise<string> {
  const control = new TaskControl(input.workflow_id);
  if (!input.review) return runTask(input, control, () => researchAtOnce(input, control));
  const review = new ReviewWait(input, input.review);
  return runTask(
    input,
    control,
    () => researchAfterReview(input, control, review),
    // An acknowledgement that was lost is made again; a review that is still open is closed; one that was rejected or
    // timed out before a cancel came ends the task as it says.
    async (end) => {
      const finish = { input, acted: review.acted, cancelled: control.cancelled };
      const closedAs = await stores.finishReview({ ...finish, closeUnopened: end.kind === 'cancelled' });
      return closedAs ?? end;
    },
  );
}

async function researchAtOnce(input: TaskInput, control: TaskControl): Promise<WorkflowEnd> {
  let plan: ChosenPlan;
  try {
    plan = await control.step(() => agents.makePlan(input));
  } catch (error) {
    return planFailed(error);
  }
  return conductResearch(input, control, plan);
}

async function researchAfterReview(
  input: TaskInput,
  control: TaskControl,
  review: ReviewWait,
): Promise<WorkflowEnd> {
  let opened: OpenedReview;
  try {
    opened = await control.during(() => agents.openReview(input));
  } catch (error) {
    return planFailed(error);
  }
  const verdict = await review.verdict(opened);
  return verdict.kind === 'approved' ? conductResearch(input, control, verdict.plan) : endWithout(verdict);
}

function endWithout(verdict: Exclude<Verdict, { kind: 'approved' }>): WorkflowEnd {
  if (verdict.kind === 'timed_out') return { kind: 'review_timed_out' };
  const reason = verdict.reason === undefined ? {} : { reason: verdict.reason };
  return verdict.kind === 'rejected'
    ? { kind: 'rejected', ...reason }
    : { kind: 'cancelled', by: verdict.by, ...reason };
}

function planFailed(error: unknown): WorkflowEnd {
  if (isCancellation(error)) throw error;
  log.error('no plan', { error });
  return { kind: 'plan_failed', reason: reasonOf(error) };
}
