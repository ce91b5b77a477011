import type { PlanAnswer, TaskInput, WorkflowId } from '@plangate/contracts';
import { createReview, readReview, sha256 } from '@plangate/review/use-cases';
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
      const answer = await firstPlan(input, NO_REVIEW_ROUNDS);
      const text = answer.plan ?? answer.message;
      return { text, sha256: sha256(text), version: 0, approved_by: '' };
    },

    /** Makes the first plan and opens its review, once: a review that is there already is never made anew. */
    async openReview(input: TaskInput): Promise<OpenedReview> {
      const { review } = input;
      if (!review) throw new Error('the task has no review');
      const found = await readReview(reviews, input.workflow_id as WorkflowId);
      const state =
        found ??
        (await createReview(
          reviews,
          originOf(input),
          await firstPlan(input, review.max_rounds),
          review.timeout_seconds,
        ));
      return { status: state.status, expires_at: state.expires_at };
    },
  };

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
