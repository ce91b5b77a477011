/** What the use cases need from outside, so that each can be driven by Redis, Temporal and a model, or by a test. */
import type { AuditEntry, Owner, PlanAnswer, Refusal, WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import type { AuditHead } from '../audit.ts';
import type { Situation, Transition } from '../machine.ts';
import type { Decision, ReviewState } from '../state.ts';

/** Reviews as the use cases see them; `redis/store.ts` implements it. */
export interface Store {
  load(workflowId: WorkflowId): Promise<Situation & { undelivered: string | null; audit: AuditHead }>;
  commit(
    workflowId: WorkflowId,
    commandId: string,
    expectedVersion: number,
    transition: Transition,
    audit: AuditEntry,
    idempotency?: IdempotencyRecord | null,
  ): Promise<{ result: 'committed' | 'repeated' | 'moved' | 'over'; version: number }>;
  acknowledge(workflowId: WorkflowId, decisionId: string, events: KeyedEvent[]): Promise<boolean>;
  recordRefusal(
    workflowId: WorkflowId,
    chain: 'refused' | 'foreign',
    entry: (head: AuditHead) => AuditEntry,
  ): Promise<void>;
}

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
