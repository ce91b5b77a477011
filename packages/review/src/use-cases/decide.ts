import { refuse, type WorkflowId } from '@plangate/contracts';
import { guardFor } from '../access.ts';
import type { Command } from '../commands.ts';
import type { ReviewOrigin, ReviewState } from '../state.ts';
import { deliverDecision } from './deliver.ts';
import { Pace } from './pace.ts';
import type { Caller, Deliver, IdempotencyRecord, Result, Store } from './ports.ts';
import { hashText } from './sha256.ts';
import { type Attempt, transact } from './transact.ts';

export interface DecidePorts {
  store: Store;
  deliver: Deliver;
  newCommandId: () => string;
  pace?: Pace;
}

export interface DecideRequest {
  workflowId: WorkflowId;
  caller: Caller;
  ifMatch: string | undefined;
  /** The record of the request's Idempotency-Key, made from the state after the action; written with it. */
  idempotency?: ((state: ReviewState) => IdempotencyRecord | null) | undefined;
}

/**
 * Approves the plan: recorded first, then delivered (design rule 5). Where the engine cannot be reached the
 * decision stands and is delivered later. It stays bound to the plan it was first decided on, also without If-Match
 * or with one that matches several versions.
 * @returns `delivered: false` where the workflow will learn of it later
 */
export async function approvePlan(
  ports: DecidePorts,
  request: DecideRequest,
): Promise<Result<{ state: ReviewState; delivered: boolean }>> {
  const { workflowId, caller, ifMatch } = request;
  const decisionId = ports.newCommandId();
  let boundTo: string | undefined;
  const decided = await transact(ports.store, workflowId, attempt(ports, decisionId, request), (state) => {
    boundTo ??= state?.plan_sha256 || undefined;
    return { type: 'approve', decisionId, by: caller.owner.user, ifMatch, boundTo };
  });
  if (!decided.ok) return decided;
  const delivery = await deliverDecision(ports, workflowId);
  if (delivery.withdrawn) {
    const { version } = delivery.withdrawn;
    return refuse(409, 'review_closed', `Review is closed: ${delivery.withdrawn.status}`, { version });
  }
  return { ok: true, state: decided.state, delivered: delivery.delivered };
}

/** Rejects the plan for good; recorded first, then delivered. */
export async function rejectPlan(
  ports: DecidePorts,
  request: DecideRequest & { reason: string | undefined },
): Promise<Result<{ state: ReviewState }>> {
  const { workflowId, caller, ifMatch, reason } = request;
  const decisionId = ports.newCommandId();
  const command: Command = { type: 'reject', decisionId, by: caller.owner.user, ifMatch, reason };
  const decided = await transact(ports.store, workflowId, attempt(ports, decisionId, request), () => command);
  if (!decided.ok) return decided;
  await deliverDecision(ports, workflowId);
  return decided;
}

/** Puts a person's text in the place of the plan. */
export function editPlan(
  ports: DecidePorts,
  request: DecideRequest & { plan: string },
): Promise<Result<{ state: ReviewState }>> {
  const { workflowId, caller, ifMatch, plan } = request;
  const command: Command = { type: 'edit', plan: hashText(plan), by: caller.owner.user, ifMatch };
  return transact(ports.store, workflowId, attempt(ports, ports.newCommandId(), request), () => command);
}

/** Moves the deadline of an open review by `seconds`. */
export function extendReview(
  ports: DecidePorts,
  request: DecideRequest & { seconds: number; maxSecondsAhead: number },
): Promise<Result<{ state: ReviewState }>> {
  const { workflowId, caller, ifMatch, seconds, maxSecondsAhead } = request;
  const command: Command = { type: 'extend', seconds, maxSecondsAhead, by: caller.owner.user, ifMatch };
  return transact(ports.store, workflowId, attempt(ports, ports.newCommandId(), request), () => command);
}

/**
 * Closes an open review because its task is cancelled, before the workflow is told; where the first plan is still
 * being made, a closed review is written so that none is created later.
 * @param caller the person who asked, for the audit; absent: the engine did it
 * @returns the state: cancelled, or what it was where a decision came first
 */
export function cancelReview(
  ports: Pick<DecidePorts, 'store' | 'newCommandId' | 'pace'>,
  origin: ReviewOrigin,
  by: string,
  reason: string | undefined,
  caller?: Caller,
): Promise<Result<{ state: ReviewState; changed: boolean }>> {
  const decisionId = ports.newCommandId();
  const command: Command = { type: 'cancel', decisionId, by, reason, origin };
  const attempt = { commandId: decisionId, pace: ports.pace ?? new Pace(), ...(caller ? { caller } : {}) };
  return transact(ports.store, origin.workflowId, attempt, () => command);
}

/**
 * Times a review out at the deadline that fired; the state that comes back says what is true.
 * @param deadline `expires_at` that the timer was set for; null: whatever it is, as its run is gone
 */
export function closeReview(
  ports: Pick<DecidePorts, 'store'>,
  origin: ReviewOrigin,
  deadline: string | null,
): Promise<Result<{ state: ReviewState }>> {
  const commandId = `close:${deadline ?? 'run-gone'}`;
  return transact(ports.store, origin.workflowId, { commandId }, () => ({ type: 'close', deadline, origin }));
}

function attempt(ports: DecidePorts, commandId: string, { caller, idempotency }: DecideRequest): Attempt {
  return { commandId, caller, guard: guardFor(caller), pace: ports.pace ?? new Pace(), idempotency };
}
