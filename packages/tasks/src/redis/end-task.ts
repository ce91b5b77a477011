import type { WorkflowId } from '@plangate/contracts';
import type { TaskEnd } from '../end.ts';
import type { EndOutcome, TaskStore } from './store.ts';

export interface EndTaskParts {
  store: TaskStore;
  events: { expire: (id: WorkflowId, seconds: number) => Promise<void> };
  /** Seconds for which the event log is kept after the end; 24 hours by the contract. */
  keepEventsSeconds: number;
  /**
   * Does what else belongs to an end, such as the expiry of the review, and says whether a decision is still
   * to be delivered: then the task stays among the open ones.
   */
  afterEnd?: (id: WorkflowId) => Promise<{ undelivered: boolean }>;
}

/**
 * The one place that ends a task, for the workflow and for the sweep: writes the end with its events, lets the
 * event log expire, and takes the task out of the open ones when nothing is undelivered. Every step may be
 * repeated, so a caller that failed midway calls again, whatever end it then brings.
 */
export async function endTask(id: WorkflowId, end: TaskEnd, parts: EndTaskParts): Promise<EndOutcome> {
  const outcome = await parts.store.end(id, end);
  await parts.events.expire(id, parts.keepEventsSeconds);
  const { undelivered } = (await parts.afterEnd?.(id)) ?? { undelivered: false };
  if (!undelivered) await parts.store.closeOpen(id);
  return outcome;
}
