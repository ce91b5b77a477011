import { type Refusal, refuse } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import type { Command, CommandType } from './commands.ts';
import { ifMatchAllows } from './if-match.ts';
import { bump, decided, emptyState, timestamp, withAnswer, withPlan } from './next-state.ts';
import * as announce from './review-events.ts';
import { feedbacksUsed, type PlanVersion, type ReviewState } from './state.ts';

/** All that a decision depends on; `now` is the store's clock in milliseconds. */
export interface Situation {
  state: ReviewState | null;
  now: number;
  /** A model call of a feedback is running. */
  feedbackInFlight: boolean;
}

/** One atomic step: the next state, and what is written with it. */
export interface Transition {
  state: ReviewState;
  events: KeyedEvent[];
  /** A text that became the plan with this step. */
  plan?: PlanVersion;
  /** True: the step holds a decision that the workflow has yet to learn. False: it needs to learn of none any more. */
  undelivered?: boolean;
  /** The step must not happen while a feedback is in flight. */
  excludesFeedback?: boolean;
}

/** Allowed: `transition` is what to write, null where nothing has to change. */
export interface Allowed {
  ok: true;
  state: ReviewState;
  transition: Transition | null;
}

export type Outcome = Allowed | Refusal;

const CONFLICT = 'Conflict: state has been modified';
const CONFLICT_APPROVE = 'Conflict: plan has been updated. Please review the latest version.';
const IN_FLIGHT_APPROVE = 'A feedback request is in progress. Please wait and try again.';
const NO_PLAN = 'No research plan to approve. Please provide feedback to generate a plan first.';
const TOO_MANY_ROUNDS = 'Maximum review rounds reached. Please approve the plan.';
const DEADLINE_TOO_FAR = 'deadline is more than 30 days away';
const NOT_FOUND = 'Review session not found or expired';

/**
 * The rules of a review (contract/plan-review.md §2.2), written once: what `command` does to a review, or why it
 * is refused. Pure: the store's clock comes with the situation. The order of the checks is the contract's: status,
 * If-Match, limit, feedback in flight, plan.
 */
export function decide(situation: Situation, command: Command): Outcome {
  const { state } = situation;
  if (command.type === 'create') return state ? unchanged(state) : create(situation.now, command);
  if (command.type === 'cancel') return cancel(situation, command);
  if (command.type === 'close') return close(situation, command);
  if (!state) return reviewNotFound();
  switch (command.type) {
    case 'begin_feedback':
      return beginFeedback(state, command);
    case 'commit_feedback':
      return commitFeedback(state, situation.now, command);
    case 'edit':
      return edit(state, situation.now, command);
    case 'approve':
      return approve(situation, state, command);
    case 'reject':
      return reject(state, situation.now, command);
    case 'extend':
      return extend(state, situation.now, command);
    case 'withdraw':
      return withdraw(state, situation.now, command);
    case 'settle':
      return settle(state, command);
  }
}

/**
 * Start of the id of the decision that stands in the place of a withdrawn approval. The id says it, not a field:
 * no person's command has such an id, and states that are stored have nothing else.
 */
const WITHDRAWN = 'withdraw:';

/** True where an approval was taken back: then nobody cancelled the task, its run was lost. */
export function isWithdrawn(state: ReviewState): boolean {
  return state.decision?.id.startsWith(WITHDRAWN) ?? false;
}

/** 404 of a review that does not exist or no longer does. */
export function reviewNotFound(): Refusal {
  return refuse(404, 'review_not_found', NOT_FOUND);
}

/** 409 of a review that moved on; `version` is the current one. */
export function versionConflict(state: ReviewState): Refusal {
  return refuse(409, 'version_conflict', CONFLICT, { version: state.version });
}

/** True when the next feedback is the last one: its answer counts as a plan whatever the model says. */
export function isFinalRound(state: ReviewState): boolean {
  return feedbacksUsed(state) + 1 >= state.max_rounds;
}

type Of<T extends CommandType> = Extract<Command, { type: T }>;

function create(now: number, command: Of<'create'>): Allowed {
  const { origin, answer } = command;
  const state: ReviewState = {
    ...emptyState(origin, now),
    round: 1,
    rounds: [{ role: 'assistant', message: answer.message, timestamp: timestamp(now) }],
    expires_at: timestamp(now + command.timeoutSeconds * 1_000),
  };
  const next = withAnswer(state, now, command, false);
  return changed(next.state, [announce.planReady(next.state, answer.message)], { plan: next.plan });
}

function beginFeedback(state: ReviewState, command: Of<'begin_feedback'>): Outcome {
  return (
    refuseUnlessReviewing(state) ??
    refuseStale(state, command.ifMatch, CONFLICT) ??
    (feedbacksUsed(state) >= state.max_rounds
      ? refuse(409, 'max_rounds', TOO_MANY_ROUNDS, { version: state.version })
      : unchanged(state))
  );
}

function commitFeedback(state: ReviewState, now: number, command: Of<'commit_feedback'>): Outcome {
  const refusal =
    refuseUnlessReviewing(state) ?? (state.content_version === command.basis ? null : versionConflict(state));
  if (refusal) return refusal;
  const at = timestamp(now);
  const grown = bump(state, {
    round: state.round + 1,
    rounds: [
      ...state.rounds,
      { role: 'user', message: command.message, timestamp: at },
      { role: 'assistant', message: command.answer.message, timestamp: at },
    ],
  });
  const next = withAnswer(grown, now, command, isFinalRound(state));
  return changed(
    next.state,
    [
      announce.userFeedback(next.state, command.message),
      announce.planUpdated(next.state, command.answer.message),
    ],
    { plan: next.plan },
  );
}

function edit(state: ReviewState, now: number, command: Of<'edit'>): Outcome {
  const refusal = refuseUnlessReviewing(state) ?? refuseStale(state, command.ifMatch, CONFLICT);
  if (refusal) return refusal;
  const next = withPlan(bump(state, { intent: 'ready' }), command.plan, 'user', now, command.by);
  return changed(next.state, [announce.planEdited(next.state, command.by)], { plan: next.plan });
}

function approve(situation: Situation, state: ReviewState, command: Of<'approve'>): Outcome {
  if (state.status === 'approved') return unchanged(state);
  const refusal = refuseUnlessReviewing(state) ?? refuseStale(state, command.ifMatch, CONFLICT_APPROVE);
  if (refusal) return refusal;
  const version = { version: state.version };
  if (command.boundTo !== undefined && command.boundTo !== state.plan_sha256) {
    return refuse(409, 'version_conflict', CONFLICT_APPROVE, version);
  }
  if (situation.feedbackInFlight) return refuse(409, 'feedback_in_flight', IN_FLIGHT_APPROVE, version);
  if (state.current_plan === '') return refuse(400, 'no_plan', NO_PLAN, version);
  const next = decided(bump(state, { status: 'approved' }), 'approve', command, situation.now);
  return changed(next, [], { undelivered: true, excludesFeedback: true });
}

function reject(state: ReviewState, now: number, command: Of<'reject'>): Outcome {
  if (state.status === 'rejected') return unchanged(state);
  const refusal = refuseUnlessReviewing(state) ?? refuseStale(state, command.ifMatch, CONFLICT);
  if (refusal) return refusal;
  const next = decided(bump(state, { status: 'rejected' }), 'reject', command, now);
  return changed(next, [announce.planRejected(next, command.by, command.reason)], { undelivered: true });
}

function extend(state: ReviewState, now: number, command: Of<'extend'>): Outcome {
  const refusal = refuseUnlessReviewing(state) ?? refuseStale(state, command.ifMatch, CONFLICT);
  if (refusal) return refusal;
  const deadline = Date.parse(state.expires_at) + command.seconds * 1_000;
  if (deadline > now + command.maxSecondsAhead * 1_000) {
    return refuse(400, 'deadline_too_far', DEADLINE_TOO_FAR, { version: state.version });
  }
  const next = { ...state, version: state.version + 1, expires_at: timestamp(deadline) };
  return changed(next, [announce.reviewExtended(next, command.by, command.seconds)]);
}

/** Ends an open review, or writes a closed one where the first plan is still being made. */
function cancel({ state, now }: Situation, command: Of<'cancel'>): Allowed {
  if (state && state.status !== 'reviewing') return unchanged(state);
  const closed: ReviewState = state
    ? bump(state, { status: 'cancelled' })
    : { ...emptyState(command.origin, now), status: 'cancelled' };
  const next = decided(closed, 'cancel', command, now);
  return changed(next, [announce.reviewCancelled(next, command.by, command.reason)], { undelivered: true });
}

/**
 * Times a review out, but only at the deadline that fired: where `expires_at` has moved or a decision came first
 * nothing changes, and the state says what is true. A null deadline closes whatever the deadline is: the run is gone.
 */
function close({ state, now }: Situation, command: Of<'close'>): Allowed {
  if (
    state &&
    (state.status !== 'reviewing' || (command.deadline ?? state.expires_at) !== state.expires_at)
  ) {
    return unchanged(state);
  }
  const next: ReviewState = state
    ? bump(state, { status: 'timed_out' })
    : { ...emptyState(command.origin, now), status: 'timed_out' };
  return changed(next, announce.reviewTimedOut(next));
}

/** Takes back an approval that no run has acted upon, nor ever will. */
function withdraw(state: ReviewState, now: number, command: Of<'withdraw'>): Allowed {
  if (state.status !== 'approved' || state.decision?.id !== command.decisionId) return unchanged(state);
  const decision = { decisionId: `${WITHDRAWN}${command.decisionId}`, by: 'system' };
  const next = decided(bump(state, { status: 'cancelled' }), 'cancel', decision, now);
  return changed(next, [announce.reviewCancelled(next, decision.by)], { undelivered: false });
}

/** Writes back the decision that the workflow acted upon, where the store came back from older data without it. */
function settle(state: ReviewState, command: Of<'settle'>): Allowed {
  const { decision } = command;
  if (state.decision?.id === decision.id) return unchanged(state);
  const status = ({ approve: 'approved', reject: 'rejected', cancel: 'cancelled' } as const)[decision.action];
  const restored = bump(state, { status, decision });
  if (decision.action !== 'approve' || restored.plan_sha256 === decision.plan_sha256) {
    return changed(restored, [], { undelivered: false });
  }
  const next = withPlan(restored, command.plan, 'assistant', Date.parse(decision.at));
  return changed(next.state, [], { plan: next.plan, undelivered: false });
}

function refuseUnlessReviewing(state: ReviewState): Refusal | null {
  if (state.status === 'reviewing') return null;
  const version = { version: state.version };
  return state.status === 'approved'
    ? refuse(409, 'review_approved', 'Review already approved', version)
    : refuse(409, 'review_closed', `Review is closed: ${state.status}`, version);
}

function refuseStale(state: ReviewState, ifMatch: string | null | undefined, text: string): Refusal | null {
  return ifMatchAllows(ifMatch, state.version)
    ? null
    : refuse(409, 'version_conflict', text, { version: state.version });
}

function unchanged(state: ReviewState): Allowed {
  return { ok: true, state, transition: null };
}

function changed(
  state: ReviewState,
  events: KeyedEvent[],
  {
    plan,
    ...more
  }: { plan?: PlanVersion | undefined } & Pick<Transition, 'undelivered' | 'excludesFeedback'> = {},
): Allowed {
  return { ok: true, state, transition: { state, events, ...(plan ? { plan } : {}), ...more } };
}
