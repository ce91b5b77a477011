import { type Command, decide, publicBody, type ReviewState } from '@plangate/review';
import type { History, ModelCall, Recorded } from './recording.ts';
import { isTold } from './script.ts';
import { canonical, commandOfOperation, type Truth } from './truth.ts';

const IN_FLIGHT = 'Another feedback request is in progress. Please wait.';
const IN_FLIGHT_APPROVE = 'A feedback request is in progress. Please wait and try again.';
const APPROVED = 'Research started';
const APPROVED_LATER = 'Approval recorded; research starts when the task engine is back';

/** A gateway waits at least so long for a reply of its store. */
const STORE_TIMEOUT_MS = 1_500;

/** A moment of an operation: it took effect as this version, or saw one of these states. */
interface Part {
  operation: Recorded;
  what: string;
  /** Not before and not after, in milliseconds. */
  from: number;
  to: number;
  /** The version that it made. */
  writes?: number;
  /**
   * The versions at which what was seen is right, of those from `least` on.
   * @param least the oldest state that can be seen at `from`
   */
  sees?: (least: number) => number[];
}

/**
 * Whether all that clients saw is explained by the order of a history: each result is right at a place in that
 * order, and the places keep to real time: what ended before something else began comes before it. As the order of
 * the changes is known, putting each part at its earliest place decides it; no search is needed.
 */
export function explain(history: History, truth: Truth): string[] {
  const problems: string[] = [];
  const parts = history.operations.flatMap((operation) => partsOf(operation, history, truth, problems));
  parts.sort((a, b) => a.from - b.from);
  const placed: { part: Part; at: number }[] = [];
  for (const part of parts) {
    const before = placed.filter((other) => other.part.to < part.from);
    const least = before.reduce((most, { at }) => Math.max(most, at), 0);
    if (part.writes !== undefined) {
      const late = before.find(({ part: other, at }) => (other.writes === undefined ? at >= part.writes! : at > part.writes!));
      if (late) problems.push(`${nameOf(part)} made version ${part.writes} after ${nameOf(late.part)} had seen ${late.at}`);
      placed.push({ part, at: part.writes });
      continue;
    }
    const at = part.sees?.(least).find((version) => version >= least);
    if (at === undefined) problems.push(`${nameOf(part)} has no place from version ${least} on`);
    else placed.push({ part, at });
  }
  checkModelCalls(history, truth, problems);
  checkDelivered(history, truth, problems);
  checkAway(history, problems);
  checkRefusalsAudited(history, problems);
  if (history.lockLeft) problems.push('the lock is left behind');
  return problems;
}

function nameOf({ operation, what }: Part): string {
  const { id, kind, status, ifMatch, body } = operation;
  const tag = ifMatch === undefined ? '' : ` If-Match ${ifMatch}`;
  return `${id} ${kind}${tag} -> ${status} ${body?.code ?? body?.status ?? ''} (${what})`;
}

function partsOf(operation: Recorded, history: History, truth: Truth, problems: string[]): Part[] {
  const { began, status } = operation;
  const made = truth.madeBy.get(operation.id);
  const ended = operation.ended ?? Infinity;
  const modelCall = operation.kind === 'feedback' ? history.calls.get(operation.message ?? '') : undefined;
  const known = operation.ended !== null && status !== 503;
  const whole = { operation, from: began, to: ended };
  const begin: Part[] = modelCall
    ? [{ operation, what: 'begin', from: began, to: modelCall.received, sees: () => basesOf(operation, modelCall, history, truth) }]
    : [];
  const after = modelCall ? { ...whole, from: modelCall.answered } : whole;
  if (made !== undefined) {
    const write: Part = { ...after, what: `makes version ${made}`, writes: made };
    if (!known) return [...begin, write];
    const wrong = refuteMade(operation, made, truth);
    if (wrong === 'withdrawn') {
      const sees = () => versionsWhere(truth, (state, at) => at > made && isRefusal(operation, state, history));
      return [write, { ...whole, what: 'withdrawn', sees }];
    }
    if (wrong) problems.push(`${operation.id} ${operation.kind} made version ${made}: ${wrong}`);
    return [...begin, write];
  }
  if (!known) return begin;
  if (modelCall) return [...begin, ...afterModel(operation, modelCall, history, truth, problems, after)];
  return [{ ...whole, what: 'sees', sees: (least) => seenBy(operation, history, truth, least) }];
}

/** Why an answer does not fit the version that its operation made; `withdrawn`: an approval that was taken back. */
function refuteMade(operation: Recorded, made: number, truth: Truth): string | null {
  const { kind, status, body, version } = operation;
  const state = truth.states[made];
  if (!state) return 'there is no such state';
  if (kind === 'approve' && status === 409 && body.error === 'Review is closed: cancelled') return 'withdrawn';
  if (kind === 'create' || kind === 'close') {
    return version === made && body.status === state.status ? null : canonical(body);
  }
  if (kind === 'cancel') return status === 202 ? null : `answered ${status}`;
  if (status !== 200) return `answered ${status} ${canonical(body)}`;
  if (version !== made) return `has the ETag of ${version}`;
  return isBodyOf(operation, state) ? null : `answered ${canonical(body)}`;
}

/** Whether a 200 shows this state. */
function isBodyOf({ kind, body, message = '' }: Recorded, state: ReviewState): boolean {
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

/** The states that a feedback may have begun on: allowed there, and the conversation that the model was given. */
function basesOf(operation: Recorded, { request }: ModelCall, history: History, truth: Truth): number[] {
  const { conversation, current_plan, current_round, is_final_round = false } = request;
  const given = conversation.slice(0, -1);
  return versionsWhere(truth, (state) => {
    if (!state || !allows(state, commandOfOperation(operation, history))) return false;
    const isFinal = state.round >= state.max_rounds;
    return (
      canonical(given) === canonical(state.rounds) &&
      current_plan === state.current_plan &&
      current_round === state.round &&
      is_final_round === isFinal
    );
  });
}

/** What a feedback that asked the model and changed nothing was told. */
function afterModel(
  operation: Recorded,
  call: ModelCall,
  history: History,
  truth: Truth,
  problems: string[],
  whole: Pick<Part, 'operation' | 'from' | 'to'>,
): Part[] {
  const { status, body } = operation;
  if (status === 502) {
    if (call.answer !== null) problems.push(`${operation.id}: 502, although the model answered`);
    return [];
  }
  const content = basesOf(operation, call, history, truth).map((at) => truth.states[at]?.content_version);
  const sees = () =>
    versionsWhere(truth, (state) => {
      if (!state || status !== 409 || body.version !== state.version) return false;
      if (state.status !== 'reviewing') return isRefusal(operation, state, history);
      const overtaken = content.some((basis) => basis !== undefined && basis < state.content_version);
      return overtaken && body.code === 'version_conflict';
    });
  return [{ ...whole, what: 'commit refused', sees }];
}

/** The versions at which the answer of an operation that changed nothing is right. */
function seenBy(operation: Recorded, history: History, truth: Truth, least: number): number[] {
  const { kind, status, body, version } = operation;
  const at = (holds: (state: ReviewState) => boolean) =>
    versionsWhere(truth, (state) => state !== null && holds(state));
  switch (kind) {
    case 'read':
      if (status === 404) return truth.states[0] === null ? [0] : [];
      return at((state) => version === state.version && status === 200 && isBodyOf(operation, state));
    case 'create':
    case 'close':
      return at((state) => version === state.version && body.status === state.status);
    case 'cancel':
      return at((state) => explainsCancel(operation, state, history));
    default:
      if (status === 200) {
        const repeated = { approve: 'approved', reject: 'rejected' }[kind as string];
        return at(
          (state) => state.status === repeated && version === state.version && isBodyOf(operation, state),
        );
      }
      return versionsWhere(
        truth,
        (state) =>
          isRefusal(operation, state, history) ||
          (state !== null && isOvertakenApproval(operation, state, truth, least)),
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
function isRefusal(operation: Recorded, state: ReviewState | null, history: History): boolean {
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
    return state?.status === 'reviewing' && body.version === state.version && (operation.seconds ?? 0) >= 2_591_000;
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
  truth: Truth,
  least: number,
): boolean {
  if (kind !== 'approve' || status !== 409 || body.code !== 'version_conflict') return false;
  if (body.version !== state.version || state.status !== 'reviewing') return false;
  const first = truth.states.slice(least, state.version);
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

/**
 * While no lock ended before its time, the model is asked by one feedback after the other, each of which sees what
 * the one before has done, and nothing is approved during a call.
 */
function checkModelCalls({ operations, calls, script }: History, truth: Truth, problems: string[]): void {
  if (script.lockEnds.length > 0) return;
  const asked = operations
    .flatMap((operation) => {
      const call = operation.kind === 'feedback' ? calls.get(operation.message ?? '') : undefined;
      return call ? [{ operation, call, made: truth.madeBy.get(operation.id) }] : [];
    })
    .sort((a, b) => a.call.received - b.call.received);
  for (const [at, { operation, call }] of asked.entries()) {
    for (const earlier of asked.slice(0, at)) {
      if (earlier.call.answered > call.received) {
        problems.push(`${earlier.operation.id} and ${operation.id} asked the model at the same time`);
      } else if (earlier.made && call.request.conversation.length - 1 < (truth.states[earlier.made]?.rounds.length ?? 0)) {
        problems.push(`${operation.id} asked the model without what ${earlier.operation.id} had done before`);
      }
    }
  }
  for (const operation of operations) {
    if (operation.kind !== 'approve' || !truth.madeBy.has(operation.id)) continue;
    const during = asked.find(
      ({ call }) => call.received < operation.began && call.answered > (operation.ended ?? Infinity),
    );
    if (during) problems.push(`${operation.id} approved while ${during.operation.id} was in flight`);
  }
}

/** A decision is undelivered until the workflow has acted upon it, or is known to be over. */
function checkDelivered({ undelivered, script }: History, truth: Truth, problems: string[]): void {
  const isDecided = truth.states.at(-1)?.decision != null;
  if (isTold(script)) {
    if (undelivered !== null) problems.push(`the decision ${undelivered} is not delivered`);
  } else if ((undelivered !== null) !== isDecided) {
    problems.push(`undelivered: ${undelivered}, decided: ${isDecided}, and nobody was told`);
  }
}

/** A store to which the way is open is only said to be away where it did not answer in time. */
function checkAway({ operations, cutOff }: History, problems: string[]): void {
  for (const { id, body, began, ended } of operations) {
    const isEarly = ended !== null && ended - began < STORE_TIMEOUT_MS;
    if (!cutOff && isEarly && body?.code === 'store_unavailable') {
      problems.push(`${id}: 503, although the store was there`);
    }
  }
}

/** Every refusal that a person was given stands in the audit, at the version that it was given for. */
function checkRefusalsAudited({ operations, audit }: History, problems: string[]): void {
  const refused = audit.filter(({ outcome }) => outcome === 'refused');
  for (const { id, kind, status, body, ended } of operations) {
    if (ended === null || status < 400 || status > 409 || status === 404) continue;
    if (kind === 'create' || kind === 'close' || kind === 'cancel' || kind === 'read') continue;
    const code = body.code;
    const entry = refused.find(({ request_id }) => request_id === id);
    const isWithdrawn = kind === 'approve' && body.error === 'Review is closed: cancelled';
    if (!entry && isWithdrawn) continue;
    if (entry?.code !== code || (code !== 'feedback_in_flight' && entry?.version !== body.version)) {
      problems.push(`${id}: its refusal ${code} is not in the audit`);
    }
  }
  for (const { request_id } of refused) {
    const operation = operations.find(({ id }) => id === request_id);
    if (!operation) problems.push(`the audit has a refusal of nobody: ${request_id}`);
    else if (operation.ended !== null && operation.status < 400) problems.push(`${request_id}: audited as refused`);
  }
}

function allows(state: ReviewState, command: Command | null): boolean {
  return command !== null && decide({ state, now: 0, feedbackInFlight: false }, command).ok;
}

function versionsWhere(truth: Truth, holds: (state: ReviewState | null, at: number) => boolean): number[] {
  return truth.states.flatMap((state, at) => (holds(state, at) ? [at] : []));
}
