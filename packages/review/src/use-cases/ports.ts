/** What the use cases need from outside, so that each can be driven by Redis, Temporal and a model, or by a test. */
import type { AuditChain, AuditEntry, Owner, PlanAnswer, Refusal, WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import type { AuditHead } from '../audit.ts';
import type { Situation, Transition } from '../machine.ts';
import type { Decision, ReviewState } from '../state.ts';

/** Reviews as the use cases see them; `redis/store.ts` implements it. */
export interface Store {
  load(workflowId: WorkflowId): Promise<Loaded>;
  commit(workflowId: WorkflowId, step: Step): Promise<CommitResult>;
  acknowledge(workflowId: WorkflowId, decisionId: string, events: KeyedEvent[]): Promise<boolean>;
  /**
   * Notes a refusal beside the review. Fails only where the store cannot be reached: a chain that cannot be written
   * is a fault of its own, which takes nobody's answer from him.
   * @param entry made from the end of the chain, again where another refusal came first
   */
  recordRefusal(
    workflowId: WorkflowId,
    chain: RefusalChain,
    entry: (head: AuditHead) => AuditEntry,
  ): Promise<void>;
}

/** `foreign` for somebody who is not the owner. */
export type RefusalChain = Exclude<AuditChain, 'accepted'>;

/** What a decision depends on, and what the commit that follows it refers to. */
export interface Loaded extends Situation {
  /** Id of the decision that the workflow has yet to learn. */
  undelivered: string | null;
  audit: AuditHead;
}

/** One step of a review, and what is written with it. */
export interface Step {
  /** The same in every attempt: a commit whose reply was lost is recognised by it. */
  commandId: string;
  /** Version that the step was decided on; 0: there is no review yet. */
  expectedVersion: number;
  transition: Transition;
  /** Its entry, chained to the head that was loaded. */
  audit: AuditEntry;
  /** The record of the request's Idempotency-Key. */
  idempotency?: IdempotencyRecord | null;
}

export type CommitResult =
  | { result: 'committed'; version: number }
  /** This command made that version before: its reply was lost. */
  | { result: 'repeated'; version: number }
  /** Another version stands there (0: none), or the audit has grown: decide again. */
  | { result: 'moved'; version: number }
  /** There is no review, and the task is over: none is opened any more. */
  | { result: 'over'; version: number };

/** What is written with a commit, so that a crash between commit and answer cannot lose it. */
export interface IdempotencyRecord {
  key: string;
  value: string;
  ttlSeconds: number;
}

export type LockAttempt = { held: false } | { held: true; release: () => Promise<void> };

/** Tries once to take the mutex of a review's model call; throws where the store cannot be reached. */
export type FeedbackLock = (workflowId: WorkflowId) => Promise<LockAttempt>;

/** Asks the model for an answer to a feedback; throws where it has none. */
export type Planner = (request: {
  state: ReviewState;
  message: string;
  final: boolean;
}) => Promise<PlanAnswer>;

/**
 * Tells the workflow of a decision.
 * `sent`: the engine has it. `unreachable`: no answer in time. `over`: the run has ended, or certainly never was.
 */
export type Deliver = (
  workflowId: WorkflowId,
  decision: Decision,
) => Promise<'sent' | 'unreachable' | 'over'>;

/** Who asks, and from where. */
export interface Caller {
  owner: Owner;
  /** Authentication is off: a review without an owner is everybody's. */
  authOff: boolean;
  /** Id of the request, for the audit. */
  requestId?: string;
}

export type Result<T> = ({ ok: true } & T) | Refusal;
