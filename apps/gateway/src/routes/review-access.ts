import type { Refusal, WorkflowId } from '@plangate/contracts';
import { refuseAccess, reviewNotFound } from '@plangate/review';
import type { StoredBody } from '@plangate/review/redis';
import type { Caller } from '@plangate/review/use-cases';
import type { GatewayParts } from '../parts.ts';

/**
 * Why there is nothing to see under this id: somebody else's task is 403 on the review routes, with a review or
 * without one (contract/plan-review.md §0).
 */
export async function refuseMissing(
  { tasks }: Pick<GatewayParts, 'tasks'>,
  workflowId: WorkflowId,
  caller: Caller,
): Promise<Refusal> {
  const owner = await tasks.loadOwner(workflowId);
  return (owner && refuseAccess(owner, caller.owner, caller.authOff)) ?? reviewNotFound();
}

/** The review as its GET shows it, or why this caller does not get it. */
export async function readAllowed(
  parts: Pick<GatewayParts, 'tasks' | 'reviews'>,
  workflowId: WorkflowId,
  caller: Caller,
): Promise<({ ok: true } & StoredBody) | Refusal> {
  const stored = await parts.reviews.readBody(workflowId);
  if (!stored) return refuseMissing(parts, workflowId, caller);
  return refuseAccess(stored.owner, caller.owner, caller.authOff) ?? { ok: true, ...stored };
}
