import type { ToolCall, ToolMessage } from '@plangate/contracts';
import { type ReadDecision, validateDecisions } from './decisions.ts';
import { IllegalStepError, NoPendingReviewError, StaleReviewError } from './errors.ts';
import { sameJson } from './json-args.ts';
import { checkLimit } from './receive-message.ts';
import { modelMessage, replaceModelMessage } from './state/newest.ts';
import type { CallRecord, ModelMessage, PendingReview, ThreadState } from './state/thread-state.ts';

/**
 * Refuses decisions that do not fit what waits; changes nothing. Returns them read, for {@link applyDecisions}.
 * @param reviewId the review that the answer is meant for; undefined: whichever is pending
 * @throws {NoPendingReviewError | StaleReviewError | InvalidReviewDecisionError} at the first fault
 */
export function checkDecisions(state: ThreadState, decisions: unknown, reviewId?: string): ReadDecision[] {
  const review = requireReview(state, reviewId);
  return validateDecisions(decisions, review.request);
}

/** The review that waits. @throws {NoPendingReviewError | StaleReviewError} */
export function requireReview(state: ThreadState, reviewId?: string): PendingReview {
  if (state.phase !== 'review' || !state.review) throw new NoPendingReviewError();
  if (reviewId !== undefined && reviewId !== state.review.id) throw new StaleReviewError();
  return state.review;
}

/**
 * Applies one decision to each action, by place. A rejected call has its error result; an edited call stands in
 * the model's message with what the person wrote, under its old id, and no copy of the old one is left. Then the
 * calls without a result run, or, where there are none, the model is asked.
 * @param limit most steps of this review call; the review is its first
 */
export function applyDecisions(
  state: ThreadState,
  decisions: readonly ReadDecision[],
  limit: number,
): ThreadState {
  const review = requireReview(state);
  if (decisions.length !== review.calls.length) throw new IllegalStepError('one decision for each action');
  const message = modelMessage(state);
  const calls = [...message.tool_calls];
  const records = [...state.calls];
  const results: ToolMessage[] = [];
  review.calls.forEach((place, i) => {
    const decision = decisions[i];
    const call = calls[place];
    if (!decision || !call) throw new IllegalStepError('an action without its call');
    requireShown(call, review, i);
    calls[place] = decision.type === 'edit' ? { id: call.id, ...decision.action } : call;
    records[place] = recordOf(decision);
    if (decision.type === 'reject') results.push(rejection(call, decision.reason));
  });
  const runs = records.some(({ progress }) => progress === 'open');
  return {
    ...state,
    messages: [...replaceModelMessage(state, edited(message, calls, decisions)), ...results],
    phase: runs ? 'tools' : 'model',
    calls: records,
    review: null,
    step: 2,
    limit: checkLimit(limit),
    failed: null,
  };
}

/** What is approved is what was shown, or nothing is. */
function requireShown(call: ToolCall, review: PendingReview, place: number): void {
  const action = review.request.action_requests[place];
  if (!action || action.name !== call.name || !sameJson(action.args, call.args)) {
    throw new IllegalStepError('a call differs from the action that was shown');
  }
}

function recordOf(decision: ReadDecision): CallRecord {
  const progress = decision.type === 'reject' ? 'done' : 'open';
  return { gated: true, decision: decision.type, progress };
}

function rejection(call: ToolCall, reason: string): ToolMessage {
  return { role: 'tool', content: reason, name: call.name, tool_call_id: call.id, status: 'error' };
}

function edited(message: ModelMessage, calls: ToolCall[], decisions: readonly ReadDecision[]): ModelMessage {
  if (!decisions.some(({ type }) => type === 'edit')) return message;
  const { role, content } = message;
  return { role, content, tool_calls: calls };
}
