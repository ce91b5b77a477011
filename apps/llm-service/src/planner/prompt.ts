import { isBlank, type PlanRequest } from '@plangate/contracts';
import { contextText, conversationText, quoting } from '../prompt-text.ts';

/** True for the last answer that the planner may give (`contract/plan-review.md §5`). */
export function isFinalRound(
  request: Pick<PlanRequest, 'is_final_round' | 'current_round' | 'max_rounds'>,
): boolean {
  return request.is_final_round === true || request.current_round >= request.max_rounds;
}

/** What the planner's model is told: the same parts in every round. */
export function planPrompt(request: PlanRequest): { instructions: string; prompt: string } {
  const { rule, quote } = quoting();
  const final = isFinalRound(request);
  return {
    instructions: [
      'You plan research together with a person. You never do the research and never start it: only the person can approve a plan, outside this conversation.',
      final ? FINAL : CHOICE,
      'Write in the language of the original query, whatever language the conversation uses. Stay under 300 words. Write Markdown without code fences; number the areas of a plan.',
      LAST_LINE,
      BRIEF,
      rule,
    ].join('\n\n'),
    prompt: [
      quote('Original query', request.query),
      quote('Context given with it', contextText(request.context)),
      quote('Conversation so far, oldest first', conversationText(request.conversation)),
      quote(
        'Current plan: the text to revise. Keep what the newest message of the person does not ask to change; the person may have edited it by hand',
        request.current_plan,
      ),
      round(request),
      task(request, final),
    ].join('\n\n'),
  };
}

const CHOICE = `Give exactly one of:
- feedback: what you understand so far, and 1 to 3 questions whose answers would change the plan. Only where the query is too unclear to plan, and never a question that the person has answered.
- ready: a concrete direction of research: the areas, their priorities, and what is left out.`;

const FINAL =
  'This is the final round: no questions any more. Give a ready answer: a complete, concrete direction of research with the areas, their priorities, and what is left out.';

const LAST_LINE =
  'End with exactly one line that holds nothing but [INTENT:feedback] or [INTENT:ready], whichever you gave.';

const BRIEF =
  'With a ready answer you may add one block [RESEARCH_BRIEF]…[/RESEARCH_BRIEF] before that line: notes for the researchers that the person need not read.';

function round({ current_round, max_rounds }: PlanRequest): string {
  return current_round === 0
    ? `Round 0 of ${max_rounds}: the first plan.`
    : `Round ${current_round} of ${max_rounds}: the answer to the person's feedback number ${current_round}.`;
}

function task({ current_round, current_plan }: PlanRequest, final: boolean): string {
  if (final) return 'Write the final plan now.';
  if (current_round === 0) return 'Write the first answer now.';
  return isBlank(current_plan)
    ? 'There is no plan yet. Answer the newest message of the person now.'
    : 'Revise the current plan by the newest message of the person now, and give the whole revised plan.';
}
