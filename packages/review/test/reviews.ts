import type { PlanAnswer, WorkflowId } from '@plangate/contracts';
import { ulid } from 'ulid';
import type { Allowed, Command, Outcome, ReviewOrigin, ReviewState, Situation } from '../src/index.ts';
import { decide } from '../src/index.ts';
import type { ReviewStore } from '../src/redis/index.ts';
import { type Store, sha256 } from '../src/use-cases/index.ts';

/** A moment that all examples share. */
export const NOW = Date.parse('2026-01-15T10:30:00.000Z');

export function origin(maxRounds = 10): ReviewOrigin {
  return {
    workflowId: `task-${ulid()}` as WorkflowId,
    owner: { user: 'ada', tenant: 'acme' },
    query: 'How do tides work?',
    maxRounds,
  };
}

/** What a model answers: a plan unless told otherwise. */
export function answer(text: string, change: Partial<PlanAnswer> = {}): PlanAnswer {
  return {
    message: text,
    intent: 'ready',
    plan: text,
    round: 1,
    model: 'm',
    provider: 'p',
    input_tokens: 1,
    output_tokens: 1,
    ...change,
  };
}

export function question(text: string): PlanAnswer {
  return answer(text, { intent: 'feedback', plan: null });
}

export function hashed(given: PlanAnswer) {
  return { answer: given, sha256: sha256(given.plan ?? given.message) };
}

export function situation(state: ReviewState | null, change: Partial<Situation> = {}): Situation {
  return { state, now: NOW, feedbackInFlight: false, ...change };
}

/** A review at version 1 whose first answer is `first`. */
export function opened(first = answer('Plan A'), maxRounds = 10): ReviewState {
  return allowed(
    decide(situation(null), {
      type: 'create',
      origin: origin(maxRounds),
      timeoutSeconds: 900,
      ...hashed(first),
    }),
  ).state;
}

/** The state after commands that must all be allowed. */
export function after(state: ReviewState, ...commands: Command[]): ReviewState {
  return commands.reduce((current, command) => allowed(decide(situation(current), command)).state, state);
}

export function allowed(outcome: Outcome): Allowed {
  if (!outcome.ok) throw new Error(`refused: ${outcome.error}`);
  return outcome;
}

export function feedback(state: ReviewState, message: string, reply: PlanAnswer): Command {
  return { type: 'commit_feedback', message, basis: state.content_version, by: 'ada', ...hashed(reply) };
}

export const approve = (ifMatch?: string): Command => ({
  type: 'approve',
  decisionId: 'd1',
  by: 'ada',
  ifMatch,
});
export const reject = (reason?: string): Command => ({ type: 'reject', decisionId: 'd2', by: 'ada', reason });

/** The store with some of its methods replaced, to put something between two steps of a use case. */
export function storeWith(store: ReviewStore, change: Partial<Store>): Store {
  return {
    load: store.load.bind(store),
    commit: store.commit.bind(store),
    acknowledge: store.acknowledge.bind(store),
    recordRefusal: store.recordRefusal.bind(store),
    ...change,
  };
}
