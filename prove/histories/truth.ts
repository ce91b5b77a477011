import type { AuditEntry, WorkflowEvent } from '@plangate/contracts';
import { type Command, decide, publicBody, type ReviewState } from '@plangate/review';
import type { History, Recorded } from './recording.ts';
import { wrongChains } from '../audit-chains.ts';
import { isTold } from './script.ts';
import { sha256 } from '../sha256.ts';

const MOST_SECONDS_AHEAD = 2_592_000;

/** The one order in which the changes of a history came, and the states between them. */
export interface Truth {
  /** `states[v]` is the state at version v; `states[0]` is null: there was none. */
  states: (ReviewState | null)[];
  /** The version that an operation made, by its id. */
  madeBy: Map<string, number>;
}

/**
 * Rebuilds a history from the accepted entries of its audit with the pure rules: every entry must be a command that
 * somebody gave and that the rules allow at that place. What the service says of plans, events and the last state
 * must be what comes out.
 * @returns problems where it does not hold
 */
export function rebuild(history: History): { truth: Truth; problems: string[] } {
  const problems: string[] = [];
  const accepted = history.audit
    .filter(({ outcome }) => outcome === 'accepted')
    .toSorted((a, b) => a.n - b.n);
  problems.push(...wrongChains(history.audit));
  const truth: Truth = { states: [null], madeBy: new Map() };
  const events: Pick<WorkflowEvent, 'type' | 'agent_id' | 'message' | 'payload'>[] = [];
  const plans: unknown[] = [];
  for (const [at, entry] of accepted.entries()) {
    const version = at + 1;
    const state = truth.states[at] ?? null;
    const place = `version ${version} (${entry.action} by ${entry.request_id || 'nobody'})`;
    if (entry.version !== version || entry.n !== version) problems.push(`${place}: the audit has a gap`);
    const operation = operationOf(entry, history, state);
    if (operation && truth.madeBy.has(operation.id)) problems.push(`${place}: ${operation.id} took effect twice`);
    if (operation) truth.madeBy.set(operation.id, version);
    const command = commandOf(entry, operation, history, state);
    if (!command) {
      problems.push(`${place}: nobody asked for it`);
      break;
    }
    const outcome = decide({ state, now: Date.parse(entry.at), feedbackInFlight: false }, command);
    if (!outcome.ok || !outcome.transition) {
      problems.push(`${place}: the rules refuse it: ${outcome.ok ? 'nothing to do' : outcome.error}`);
      break;
    }
    truth.states.push(outcome.state);
    events.push(
      ...outcome.transition.events.map(({ type, agent_id, message, payload }) => ({
        type,
        agent_id,
        message,
        ...(payload ? { payload } : {}),
      })),
    );
    if (outcome.transition.plan) plans.push(outcome.transition.plan);
  }
  if (problems.length > 0) return { truth, problems };
  const state = truth.states.at(-1) ?? null;
  if (isAnnounced(history, state)) events.push(approvedEvent(state));
  compare('the last state', history.last, state && publicBody(state), problems);
  compare('the plans', history.versions, plans, problems);
  compare(
    'the events',
    history.events.map(({ type, agent_id, message, payload }) => ({
      type,
      agent_id,
      message,
      ...(payload ? { payload } : {}),
    })),
    events,
    problems,
  );
  const order = history.events.map(({ seq }) => seq);
  compare(
    'the numbers of the events',
    order,
    order.map((_, at) => at + 1),
    problems,
  );
  if (history.followed) {
    // What a cut request did after the last look comes after everything that was looked at.
    const got = history.followed.map(({ seq, type }) => `${seq} ${type}`);
    const told = history.events.map(({ seq, type }) => `${seq} ${type}`);
    compare('the events that a reader of the stream got', got.slice(0, told.length), told, problems);
    const numbers = history.followed.map(({ seq }) => seq);
    compare(
      'the numbers that a reader of the stream got',
      numbers,
      numbers.map((_, at) => at + 1),
      problems,
    );
  }
  return { truth, problems };
}

/** Whether the workflow has announced the approval: it must have where the decision is known to it. */
function isAnnounced({ script, events, undelivered }: History, state: ReviewState | null): state is ReviewState {
  if (state?.status !== 'approved' || !isTold(script)) return false;
  return undelivered === null || events.some(({ type }) => type === 'RESEARCH_PLAN_APPROVED');
}

function approvedEvent({ decision }: ReviewState): Pick<WorkflowEvent, 'type' | 'agent_id' | 'message' | 'payload'> {
  return {
    type: 'RESEARCH_PLAN_APPROVED',
    agent_id: 'planner',
    message: 'Got it — starting research',
    payload: { plan_sha256: decision?.plan_sha256, approved_by: decision?.by, version: decision?.version },
  };
}

/** Whose command an entry is: people's by their request id, the workflow's by what it was told. */
function operationOf(entry: AuditEntry, history: History, state: ReviewState | null): Recorded | undefined {
  const { operations } = history;
  if (entry.request_id !== '') return operations.find(({ id }) => id === entry.request_id);
  if (entry.action === 'open') return operations.find(({ kind }) => kind === 'create');
  if (entry.action !== 'time_out') return undefined;
  return operations.find(
    ({ kind, deadline, version, body }) =>
      kind === 'close' &&
      (state === null || deadline === state.expires_at) &&
      body.status === 'timed_out' &&
      version === (state?.version ?? 0) + 1,
  );
}

const ACTIONS: Record<Recorded['kind'], string> = {
  create: 'open',
  close: 'time_out',
  feedback: 'feedback',
  edit: 'edit',
  approve: 'approve',
  reject: 'reject',
  extend: 'extend',
  cancel: 'cancel',
  read: '',
};

function commandOf(
  entry: AuditEntry,
  operation: Recorded | undefined,
  history: History,
  state: ReviewState | null,
): Command | null {
  if (entry.action === 'withdraw') return { type: 'withdraw', decisionId: state?.decision?.id ?? '' };
  if (!operation || ACTIONS[operation.kind] !== entry.action) return null;
  if (operation.kind !== 'feedback') return commandOfOperation(operation, history);
  const answer = history.calls.get(operation.message ?? '')?.answer;
  if (!answer) return null;
  return {
    type: 'commit_feedback',
    message: operation.message ?? '',
    basis: state?.content_version ?? 0,
    by: history.origin.owner.user,
    ...hashed(answer),
  };
}

/** The command that an operation gives; of a feedback its first half. Null: it gives none. */
export function commandOfOperation(operation: Recorded, history: History): Command | null {
  const { origin, firstAnswer, timeoutSeconds } = history;
  const { ifMatch, reason, id } = operation;
  const person = { by: origin.owner.user, ifMatch };
  switch (operation.kind) {
    case 'create':
      return { type: 'create', origin, timeoutSeconds, ...hashed(firstAnswer) };
    case 'close':
      return { type: 'close', deadline: operation.deadline ?? '', origin };
    case 'feedback':
      return { type: 'begin_feedback', ...person };
    case 'edit': {
      const text = operation.plan ?? '';
      return { type: 'edit', plan: { text, sha256: sha256(text) }, ...person };
    }
    case 'approve':
      return { type: 'approve', decisionId: id, ...person };
    case 'reject':
      return { type: 'reject', decisionId: id, reason, ...person };
    case 'extend':
      return {
        type: 'extend',
        seconds: operation.seconds ?? 0,
        maxSecondsAhead: MOST_SECONDS_AHEAD,
        ...person,
      };
    case 'cancel':
      return { type: 'cancel', decisionId: id, by: person.by, reason, origin };
    case 'read':
      return null;
  }
}

function hashed(answer: History['firstAnswer']) {
  return { answer, sha256: sha256(answer.plan ?? answer.message) };
}

function compare(what: string, got: unknown, wanted: unknown, problems: string[]): void {
  const [a, b] = [canonical(got), canonical(wanted)];
  if (a !== b) problems.push(`${what}: ${a}\n      instead of ${b}`);
}

/** JSON whose members come in one order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
