import { decide, publicBody, type ReviewState } from '@plangate/review';
import { canonical } from './canonical.ts';
import { commandOfOperation } from './commands.ts';
import type { History, Recorded } from './recording.ts';
import { allows, type States, versionsWhere } from './states.ts';

const IN_FLIGHT = 'Another feedback request is in progress. Please wait.';
const IN_FLIGHT_APPROVE = 'A feedback request is in progress. Please wait and try again.';
const APPROVED = 'Research started';
const APPROVED_LATER = 'Approval recorded; research starts when the task engine is back';
/** What a decision that is repeated finds. */
const REPEATED: Partial<Record<Recorded['kind'], ReviewState['status']>> = {
  approve: 'approved',
  reject: 'rejected',
};

/** Whether a 200 shows this state. */
export function isBodyOf({ kind, body, message = '' }: Recorded, state: ReviewState): boolean {
  if (kind === 'approve') {
    return body.status === 'approved' && [APPROVED, APPROVED_LATER].includes(body.message);
  }
  const shown = publicBody(state);
  if (kind !== 'feedback') return canonical(body) === canonical(shown);
  const { status, round, version, current_plan, rounds, query, intent } = shown;
  const said = rounds.at(-1)?.message ?? '';
  const plan = { message: said, round, version, intent: intent || 'feedback' };
  return (
    rounds.at(-2)?.message === message &&
    canonical(body) === canonical({ status, plan, round, version, current_plan, rounds, query })
  );
}

/** The versions at which the answer of an operation that changed nothing is right. */
export function seenBy(operation: Recorded, history: History, states: States, least: number): number[] {
  const { kind, status, body, version } = operation;
  const at = (holds: (state: ReviewState) => boolean) =>
    versionsWhere(states, (state) => state !== null && holds(state));
  switch (kind) {
    case 'read':
      if (status === 404) return states[0] === null ? [0] : [];
      return at((state) => version === state.version && status === 200 && isBodyOf(operation, state));
    case 'create':
    case 'close':
      return at((state) => version === state.version && body.status === state.status);
    case 'cancel':
      return at((state) => explainsCancel(operation, state, history));
    default:
      if (status === 200) {
        const repeated = REPEATED[kind];
        return at(
          (state) => state.status === repeated && version === state.version && isBodyOf(operation, state),
        );
      }
      return versionsWhere(
        states,
        (state) =>
          isRefusal(operation, state, history) ||
          (state !== null && isOvertakenApproval(operation, state, states, least)),
      );
  }
}

/** A cancel that found the review closed: of a cancelled one it is done, of another one the engine decides. */
function explainsCancel({ status, body }: Recorded, state: ReviewState, { script }: History): boolean {
  if (state.status === 'reviewing') return false;
  if (status === 202) return state.status === 'cancelled' || script.engine === 'sent';
  if (state.status === 'cancelled') return false;
  if (status === 503) return script.engine === 'away';
  return status === 409 && body.code === 'task_over' && script.engine === 'over';
}

/** Whether the rules refuse an operation at this state with just this answer. */
export function isRefusal(operation: Recorded, state: ReviewState | null, history: History): boolean {
  const command = commandOfOperation(operation, history);
  const { status, body, kind } = operation;
  if (!command) return false;
  if (body?.error === IN_FLIGHT || body?.error === IN_FLIGHT_APPROVE) {
    if (!state || status !== 409 || body.version !== state.version) return false;
    if (!couldBeInFlight(operation, history)) return false;
    if (kind === 'feedback') return body.error === IN_FLIGHT && allows(state, command);
  }
  const outcome = decide({ state, now: 0, feedbackInFlight: body?.error === IN_FLIGHT_APPROVE }, command);
  if (kind === 'extend' && body?.code === 'deadline_too_far') {
    return (
      state?.status === 'reviewing' && body.version === state.version && (operation.seconds ?? 0) >= 2_591_000
    );
  }
  if (outcome.ok) return false;
  const version = outcome.fields?.['version'] ?? null;
  return (
    outcome.status === status &&
    outcome.code === body?.code &&
    outcome.error === body.error &&
    (body.version ?? null) === version &&
    operation.version === version
  );
}

/** An approve stays bound to the plan that it saw first; another plan since then is a conflict. */
function isOvertakenApproval(
  { kind, body, status }: Recorded,
  state: ReviewState,
  states: States,
  least: number,
): boolean {
  if (kind !== 'approve' || status !== 409 || body.code !== 'version_conflict') return false;
  if (body.version !== state.version || state.status !== 'reviewing') return false;
  const first = states.slice(least, state.version);
  return first.some((seen) => seen && seen.plan_sha256 !== '' && seen.plan_sha256 !== state.plan_sha256);
}

/**
 * Whether another feedback can have been in flight while this operation ran; of one that was cut nobody knows how
 * long, and one whose gateway lost its store may have left its lock behind.
 */
function couldBeInFlight(operation: Recorded, { operations, broken }: History): boolean {
  const ended = operation.ended ?? Infinity;
  return operations.some(
    (other) =>
      other.kind === 'feedback' &&
      other !== operation &&
      other.began <= ended &&
      (broken || (other.ended ?? Infinity) >= operation.began),
  );
}
