import type { WorkflowId } from '@plangate/contracts';
import type { EventHub, EventLog } from '@plangate/events/redis';
import type { ReviewStore, StoredBody } from '@plangate/review/redis';
import type { TaskStore } from '@plangate/tasks/redis';

export interface FirstPlanParts {
  tasks: TaskStore;
  reviews: ReviewStore;
  events: Pick<EventLog, 'latestSeq'>;
  hub: Pick<EventHub, 'changed'>;
}

/**
 * Waits for the review of a task that is still making its first plan: woken by the task's events, looked at again
 * after each (contract/plan-review.md §2.1). Null when the task ends without a review, after `waitMs`, and after an
 * abort.
 */
export async function waitForReview(
  { tasks, reviews, events, hub }: FirstPlanParts,
  workflowId: WorkflowId,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<StoredBody | null> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    // Read before the looks: an event that comes between them and the wait ends the wait at once.
    const afterSeq = await events.latestSeq(workflowId);
    const stored = await reviews.readBody(workflowId);
    if (stored) return stored;
    const [record] = await tasks.openStates([workflowId]);
    if (record?.state !== 'read' || record.ended || signal.aborted) return null;
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0) return null;
    await hub.changed(workflowId, { afterSeq, timeoutMs, signal });
  }
}
