import { PlanAnswer, type Refusal, refuse, type WorkflowId } from '@plangate/contracts';
import { guardFor } from '../access.ts';
import type { Command } from '../commands.ts';
import { decide, isFinalRound, type Situation } from '../machine.ts';
import type { ReviewState } from '../state.ts';
import { Pace } from './pace.ts';
import type { Caller, FeedbackLock, IdempotencyRecord, Planner, Result, Store } from './ports.ts';
import { hashAnswer } from './sha256.ts';
import { auditRefusal, transact } from './transact.ts';

const IN_FLIGHT = 'Another feedback request is in progress. Please wait.';
const PLANNER_FAILED = 'Failed to generate updated plan';

export interface FeedbackPorts {
  store: Store;
  lock: FeedbackLock;
  planner: Planner;
  newCommandId: () => string;
  /** Told why a model call failed; the client learns only that it did. */
  onPlannerFault: (error: unknown) => void;
  pace?: Pace;
}

export interface FeedbackRequest {
  workflowId: WorkflowId;
  caller: Caller;
  message: string;
  ifMatch: string | undefined;
  /** The record of the request's Idempotency-Key, made from the state after it and the model's message. */
  idempotency?: (state: ReviewState, message: string) => IdempotencyRecord | null;
}

/**
 * A round of feedback (design §4): look, take the mutex, look again, ask the model, commit once, free the mutex.
 * The second look is what makes a loser of the race a conflict instead of a lost update; the commit compares the
 * version once more. A failed model call changes nothing and uses no round. Runs to its end whether or not the
 * client is still there.
 */
export async function submitFeedback(
  ports: FeedbackPorts,
  request: FeedbackRequest,
): Promise<Result<{ state: ReviewState; message: string }>> {
  const pace = ports.pace ?? new Pace();
  const first = await begin(ports.store, request);
  if (!first.ok) return first;
  const lock = await ports.lock(request.workflowId);
  if (!lock.held) {
    const refusal = refuse(409, 'feedback_in_flight', IN_FLIGHT, { version: first.state.version });
    return refused(ports.store, request, await ports.store.load(request.workflowId), refusal);
  }
  try {
    const result = await underLock(ports, request, pace);
    await lock.release();
    return result;
  } catch (error) {
    // The store is away: nobody waits for a release that will fail too.
    void lock.release();
    throw error;
  }
}

async function underLock(
  ports: FeedbackPorts,
  request: FeedbackRequest,
  pace: Pace,
): Promise<Result<{ state: ReviewState; message: string }>> {
  const second = await begin(ports.store, request);
  if (!second.ok) return second;
  const stalled = pace.check();
  if (stalled) return stalled;
  const answer = await ask(ports, second.state, request.message);
  if (!answer) return refuse(502, 'planner_failed', PLANNER_FAILED);
  pace.step();
  return commit(ports, request, second.state, answer, pace);
}

async function begin(store: Store, request: FeedbackRequest): Promise<Result<{ state: ReviewState }>> {
  const situation = await store.load(request.workflowId);
  const { caller, ifMatch } = request;
  const outcome =
    guardFor(caller)(situation.state) ??
    decide(situation, { type: 'begin_feedback', ifMatch, by: caller.owner.user });
  return outcome.ok ? outcome : refused(store, request, situation, outcome);
}

async function refused(
  store: Store,
  { workflowId, caller }: FeedbackRequest,
  situation: Situation,
  refusal: Refusal,
): Promise<Refusal> {
  await auditRefusal(store, workflowId, caller, 'begin_feedback', situation, refusal);
  return refusal;
}

async function ask(ports: FeedbackPorts, state: ReviewState, message: string): Promise<PlanAnswer | null> {
  try {
    return PlanAnswer.parse(await ports.planner({ state, message, final: isFinalRound(state) }));
  } catch (error) {
    ports.onPlannerFault(error);
    return null;
  }
}

async function commit(
  ports: FeedbackPorts,
  { workflowId, caller, message, idempotency }: FeedbackRequest,
  seen: ReviewState,
  answer: PlanAnswer,
  pace: Pace,
): Promise<Result<{ state: ReviewState; message: string }>> {
  const command: Command = {
    type: 'commit_feedback',
    message,
    basis: seen.content_version,
    by: caller.owner.user,
    ...hashAnswer(answer),
  };
  const attempt = {
    commandId: ports.newCommandId(),
    caller,
    pace,
    idempotency: (state: ReviewState) => idempotency?.(state, answer.message) ?? null,
  };
  const committed = await transact(ports.store, workflowId, attempt, () => command);
  return committed.ok ? { ok: true, state: committed.state, message: answer.message } : committed;
}
