/** How a review looks after a step that the rules allowed; `machine.ts` says which those are. */
import type { HashedAnswer, HashedText } from './commands.ts';
import {
  type Decision,
  type PlanVersion,
  type ReviewOrigin,
  type ReviewState,
  STATE_FORMAT,
} from './state.ts';

/** A state, and the text that became its plan where one did. */
export interface Planned {
  state: ReviewState;
  plan: PlanVersion | undefined;
}

/** A review at version 1 in which nothing was said yet. */
export function emptyState(origin: ReviewOrigin, now: number): ReviewState {
  return {
    format: STATE_FORMAT,
    workflow_id: origin.workflowId,
    owner: origin.owner,
    query: origin.query,
    status: 'reviewing',
    round: 0,
    version: 1,
    content_version: 1,
    intent: '',
    current_plan: '',
    plan_version: 0,
    plan_sha256: '',
    rounds: [],
    max_rounds: origin.maxRounds,
    created_at: timestamp(now),
    expires_at: timestamp(now),
    decision: null,
  };
}

/** The next version with `change`; what it changes is content, so a feedback in flight is overtaken by it. */
export function bump(state: ReviewState, change: Partial<ReviewState>): ReviewState {
  const version = state.version + 1;
  return { ...state, ...change, version, content_version: version };
}

/**
 * The state with what a model answered: only `ready` makes a plan, a question never replaces one.
 * @param final the answer to the last feedback counts as ready, whatever the model says
 */
export function withAnswer(
  state: ReviewState,
  now: number,
  { answer, sha256 }: HashedAnswer,
  final: boolean,
): Planned {
  const briefed = answer.research_brief ? { ...state, research_brief: answer.research_brief } : state;
  const ready = answer.intent === 'ready' || final;
  const keepsPlan = answer.intent === 'ready' && answer.plan === null && state.current_plan !== '';
  if (!ready || (answer.plan === null && !keepsPlan && !final)) {
    return { state: { ...briefed, intent: 'feedback' }, plan: undefined };
  }
  if (keepsPlan) return { state: { ...briefed, intent: 'ready' }, plan: undefined };
  const text = answer.plan ?? answer.message;
  return withPlan({ ...briefed, intent: 'ready' }, { text, sha256 }, 'assistant', now);
}

/** The state with `text` as its plan, written at the state's version. */
export function withPlan(
  state: ReviewState,
  { text, sha256 }: HashedText,
  author: PlanVersion['author'],
  now: number,
  by?: string,
): Planned {
  return {
    state: { ...state, current_plan: text, plan_sha256: sha256, plan_version: state.version },
    plan: {
      version: state.version,
      text,
      sha256,
      author,
      ...(by === undefined ? {} : { by }),
      created_at: timestamp(now),
    },
  };
}

/** The state with the decision that made its status: who, when, and on which plan. */
export function decided(
  state: ReviewState,
  action: Decision['action'],
  { decisionId, by, reason }: { decisionId: string; by: string; reason?: string | undefined },
  now: number,
): ReviewState {
  const decision: Decision = {
    id: decisionId,
    action,
    by,
    at: timestamp(now),
    version: state.version,
    plan_sha256: state.plan_sha256,
    ...(reason ? { reason } : {}),
  };
  return { ...state, decision };
}

/** RFC 3339 in UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
