import type { AuditEntry, WorkflowEvent } from '@plangate/contracts';
import {
  type Command,
  decide,
  publicBody,
  type ReviewState,
  splitChains,
  type Transition,
} from '@plangate/review';
import { wrongChains } from '../audit-chains.ts';
import { canonical } from './canonical.ts';
import { commandOfOperation, hashed } from './commands.ts';
import type { History, ModelCall, Recorded } from './recording.ts';
import { isTold } from './script.ts';
import { basesOf, type States } from './states.ts';

/** The one order in which the changes of a history came, and the states between them. */
export interface Truth {
  states: (ReviewState | null)[];
  /** The version that an operation made, by its id. */
  madeBy: Map<string, number>;
}

type Told = Pick<WorkflowEvent, 'type' | 'agent_id' | 'message' | 'payload'>;

/**
 * Rebuilds a history from the accepted entries of its audit with the pure rules: every entry must be a command that
 * somebody gave and that the rules allow at that place. What the service says of plans, events and the last state
 * must be what comes out.
 * @returns problems where it does not hold
 */
export function rebuild(history: History): { truth: Truth; problems: string[] } {
  const truth: Truth = { states: [null], madeBy: new Map() };
  const events: Told[] = [];
  const plans: unknown[] = [];
  const problems = wrongChains(history.audit, history.last?.version);
  for (const entry of splitChains(history.audit).accepted) {
    const step = replay(entry, history, truth);
    problems.push(...step.problems);
    if (!step.outcome) break;
    const { state, transition } = step.outcome;
    truth.states.push(state);
    events.push(...transition.events.map(told));
    if (transition.plan) plans.push(transition.plan);
  }
  if (problems.length > 0) return { truth, problems };
  const state = truth.states.at(-1) ?? null;
  if (isAnnounced(history, state)) events.push(approvedEvent(state));
  return {
    truth,
    problems: [
      ...differing('the last state', history.last, state && publicBody(state)),
      ...differing('the plans', history.versions, plans),
      ...differing('the events', history.events.map(told), events),
      ...differing('the numbers of the events', ...numbers(history.events)),
      ...wrongFollowed(history),
    ],
  };
}

interface Step {
  /** Null: the history ends here. */
  outcome: { state: ReviewState; transition: Transition } | null;
  problems: string[];
}

/** One entry of the audit, done again with the rules at the end of what came before. */
function replay(entry: AuditEntry, history: History, { states, madeBy }: Truth): Step {
  const version = states.length;
  const state = states.at(-1) ?? null;
  const place = `version ${version} (${entry.action} by ${entry.request_id || 'nobody'})`;
  const problems: string[] = [];
  if (entry.version !== version || entry.n !== version) problems.push(`${place}: the audit has a gap`);
  const operation = operationOf(entry, history, state);
  if (operation && madeBy.has(operation.id)) problems.push(`${place}: ${operation.id} took effect twice`);
  if (operation) madeBy.set(operation.id, version);
  const command = commandOf(entry, operation, history, states);
  if (!command) return { outcome: null, problems: [...problems, `${place}: nobody asked for it`] };
  const outcome = decide({ state, now: Date.parse(entry.at), feedbackInFlight: false }, command);
  if (outcome.ok && outcome.transition) {
    return { outcome: { state: outcome.state, transition: outcome.transition }, problems };
  }
  const reason = outcome.ok ? 'nothing to do' : outcome.error;
  return { outcome: null, problems: [...problems, `${place}: the rules refuse it: ${reason}`] };
}

/** What an event says, without its place. */
function told({ type, agent_id, message, payload }: Told): Told {
  return { type, agent_id, message, ...(payload ? { payload } : {}) };
}

/** What a reader of the stream missed, or got twice. */
function wrongFollowed({ followed, events }: History): string[] {
  if (!followed) return [];
  // What a cut request did after the last look comes after everything that was looked at.
  const got = followed.map(({ seq, type }) => `${seq} ${type}`);
  const wanted = events.map(({ seq, type }) => `${seq} ${type}`);
  return [
    ...differing('the events that a reader of the stream got', got.slice(0, wanted.length), wanted),
    ...differing('the numbers that a reader of the stream got', ...numbers(followed)),
  ];
}

/** The numbers that are there, and those that should be: 1, 2, 3, … */
function numbers(events: readonly { seq: number }[]): [got: number[], wanted: number[]] {
  return [events.map(({ seq }) => seq), events.map((_, at) => at + 1)];
}

/** Whether the workflow has announced the approval: it must have where the decision is known to it. */
function isAnnounced(
  { script, events, undelivered }: History,
  state: ReviewState | null,
): state is ReviewState {
  if (state?.status !== 'approved' || !isTold(script)) return false;
  return undelivered === null || events.some(({ type }) => type === 'RESEARCH_PLAN_APPROVED');
}

function approvedEvent({ decision }: ReviewState): Told {
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

/** @param states those before this entry */
function commandOf(
  entry: AuditEntry,
  operation: Recorded | undefined,
  history: History,
  states: States,
): Command | null {
  if (entry.action === 'withdraw') return { type: 'withdraw', decisionId: states.at(-1)?.decision?.id ?? '' };
  if (!operation || ACTIONS[operation.kind] !== entry.action) return null;
  if (operation.kind !== 'feedback') return commandOfOperation(operation, history);
  const call = history.calls.get(operation.message ?? '');
  if (!call?.answer) return null;
  return {
    type: 'commit_feedback',
    message: operation.message ?? '',
    basis: basisOf(operation, call, history, states),
    by: history.origin.owner.user,
    ...hashed(call.answer),
  };
}

/**
 * The content that the model was shown: the newest that fits what it was sent. The rules refuse the commit where
 * there is newer content since, so an edit that a feedback has overtaken is found.
 */
function basisOf(operation: Recorded, call: ModelCall, history: History, states: States): number {
  const base = basesOf(operation, call, history, states).at(-1);
  return states[base ?? 0]?.content_version ?? 0;
}

function differing(what: string, got: unknown, wanted: unknown): string[] {
  const [a, b] = [canonical(got), canonical(wanted)];
  return a === b ? [] : [`${what}: ${a}\n      instead of ${b}`];
}
