/** The events that a review announces (contract/plan-review.md §3), each written by the step that it announces. */
import type { KeyedEvent } from '@plangate/events';
import type { Decision, ReviewState } from './state.ts';

const PEOPLE = 'user';
const PLANNER = 'planner';

/** The first plan is stored: from now on it can be approved. */
export function planReady(state: ReviewState, message: string): KeyedEvent {
  const { round, intent, version, expires_at } = state;
  return {
    type: 'RESEARCH_PLAN_READY',
    agent_id: PLANNER,
    message,
    payload: { round, intent, version, expires_at },
  };
}

export function userFeedback(state: ReviewState, message: string): KeyedEvent {
  const { round, version } = state;
  return { type: 'REVIEW_USER_FEEDBACK', agent_id: PEOPLE, message, payload: { round, version } };
}

export function planUpdated(state: ReviewState, message: string): KeyedEvent {
  const { round, version, intent } = state;
  return {
    type: 'RESEARCH_PLAN_UPDATED',
    agent_id: 'research-planner',
    message,
    payload: { round, version, intent },
  };
}

export function planEdited(state: ReviewState, by: string): KeyedEvent {
  const { version, plan_sha256, current_plan } = state;
  return {
    type: 'RESEARCH_PLAN_EDITED',
    agent_id: PEOPLE,
    message: current_plan,
    payload: { version, plan_sha256, by },
  };
}

/** The workflow has the approval and starts the research. */
export function planApproved(decision: Decision): KeyedEvent {
  return {
    key: `approved:${decision.id}`,
    type: 'RESEARCH_PLAN_APPROVED',
    agent_id: PLANNER,
    message: 'Got it — starting research',
    payload: { plan_sha256: decision.plan_sha256, approved_by: decision.by, version: decision.version },
  };
}

export function planRejected(state: ReviewState, by: string, reason?: string): KeyedEvent {
  return {
    type: 'RESEARCH_PLAN_REJECTED',
    agent_id: PEOPLE,
    message: reason ? `Plan rejected: ${reason}` : 'Plan rejected',
    payload: { version: state.version, by, ...(reason ? { reason } : {}) },
  };
}

export function reviewExtended(state: ReviewState, by: string, seconds: number): KeyedEvent {
  const { version, expires_at } = state;
  return {
    type: 'REVIEW_EXTENDED',
    agent_id: PEOPLE,
    message: `Review extended until ${expires_at}`,
    payload: { version, expires_at, seconds, by },
  };
}

export function reviewCancelled(state: ReviewState, by: string, reason?: string): KeyedEvent {
  return {
    type: 'REVIEW_CANCELLED',
    agent_id: PEOPLE,
    message: reason ? `Review cancelled: ${reason}` : 'Review cancelled',
    payload: { version: state.version, by, ...(reason ? { reason } : {}) },
  };
}

/** The documented order of a time-out: the error first, then what it means for the review. */
export function reviewTimedOut(state: ReviewState): KeyedEvent[] {
  const { version, expires_at } = state;
  return [
    {
      type: 'ERROR_OCCURRED',
      agent_id: PLANNER,
      message: 'Review timed out',
      payload: { code: 'review_timed_out' },
    },
    {
      type: 'REVIEW_TIMED_OUT',
      agent_id: PLANNER,
      message: 'Nobody approved the plan in time',
      payload: { version, expires_at },
    },
  ];
}
