import type { PlanAnswer, TaskInput, WorkflowId } from '@plangate/contracts';
import type { ReviewState } from '@plangate/review';
import { createReview, readReview, sha256 } from '@plangate/review/use-cases';
import { ApplicationFailure } from '@temporalio/activity';
import { askModel } from './faults.ts';
import type { Parts } from './parts.ts';
import { originOf } from './review.ts';
import type { ChosenPlan, OpenedReview } from './types.ts';

/** Feedbacks that a plan may get where nobody reviews it: the model is told that it is the only round. */
const NO_REVIEW_ROUNDS = 1;

/** The first plan of a research task. */
export function planActivities({ llm, reviews, tasks }: Parts) {
  return {
    /** A plan that nobody reviews; a question of the model is taken as its direction. */
    async makePlan(input: TaskInput): Promise<ChosenPlan> {
      // While the store is away no model is asked: what it answers could not be kept.
      await tasks.loadOwner(input.workflow_id as WorkflowId);
      const answer = await firstPlan(input, NO_REVIEW_ROUNDS);
      const text = answer.plan ?? answer.message;
      return { text, sha256: sha256(text), version: 0, approved_by: '' };
    },

    /** Makes the first plan and opens its review, once: a review that is there already is never made anew. */
    async openReview(input: TaskInput): Promise<OpenedReview> {
      const { review } = input;
      if (!review) throw new Error('the task has no review');
      const found = await readReview(reviews, input.workflow_id as WorkflowId);
      const { status, created_at } = found ?? (await open(input, review));
      // Not `expires_at`: it may have been extended since, and the workflow's timer stands for the first deadline.
      const deadline = Date.parse(created_at) + review.timeout_seconds * 1_000;
      return { status, expires_at: new Date(deadline).toISOString() };
    },
  };

  async function open(input: TaskInput, review: NonNullable<TaskInput['review']>): Promise<ReviewState> {
    const answer = await firstPlan(input, review.max_rounds);
    const created = await createReview(reviews, originOf(input), answer, review.timeout_seconds);
    if (created.ok) return created.state;
    throw ApplicationFailure.nonRetryable(created.error, created.code);
  }

  async function firstPlan(input: TaskInput, maxRounds: number): Promise<PlanAnswer> {
    const answer = await askModel('make a plan', (signal) =>
      llm.plan(
        {
          ...input.model,
          query: input.query,
          context: input.context,
          conversation: [],
          current_plan: '',
          current_round: 0,
          max_rounds: maxRounds,
        },
        signal,
      ),
    );
    await tasks.addUsage(input.workflow_id as WorkflowId, answer, 'plan');
    return answer;
  }
}
