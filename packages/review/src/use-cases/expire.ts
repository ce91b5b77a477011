import type { WorkflowId } from '@plangate/contracts';
import { retentionSeconds } from '../retention.ts';
import type { Store } from './ports.ts';

type ExpiringStore = Pick<Store, 'load'> & {
  expire(workflowId: WorkflowId, seconds: number): Promise<void>;
};

/**
 * Sets the end of the review of a task that is over (contract/plan-review.md §2.1), unless a decision is still to be
 * delivered: then it is kept, and whoever delivers that calls again.
 * @returns whether a decision is undelivered
 */
export async function expireFinishedReview(
  store: ExpiringStore,
  workflowId: WorkflowId,
): Promise<{ undelivered: boolean }> {
  const { state, now, undelivered } = await store.load(workflowId);
  if (undelivered !== null) return { undelivered: true };
  if (state) await store.expire(workflowId, retentionSeconds(state, now));
  return { undelivered: false };
}
