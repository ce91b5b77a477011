import type { PlanAnswer, WorkflowId } from '@plangate/contracts';
import type { ReviewOrigin, ReviewState } from '../state.ts';
import type { Result, Store } from './ports.ts';
import { hashAnswer } from './sha256.ts';
import { transact } from './transact.ts';

/**
 * Creates the review of a first plan, once: where there is one already, closed or not, that one comes back; where the
 * task is over, none is opened (409).
 * @param timeoutSeconds from now, on the store's clock, to the deadline
 */
export async function createReview(
  store: Store,
  origin: ReviewOrigin,
  answer: PlanAnswer,
  timeoutSeconds: number,
): Promise<Result<{ state: ReviewState }>> {
  return transact(store, origin.workflowId, { commandId: 'create' }, () => ({
    type: 'create',
    origin,
    timeoutSeconds,
    ...hashAnswer(answer),
  }));
}

/** The state of a review, or null where there is none. */
export async function readReview(store: Store, workflowId: WorkflowId): Promise<ReviewState | null> {
  return (await store.load(workflowId)).state;
}
