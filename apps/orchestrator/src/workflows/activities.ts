/** How workflows reach their activities: one proxy per kind of work, each with its own patience. */
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/** A process that died is noticed by its missing heartbeat, so that a restart does not wait for the long limits. */
const HEARTBEAT = '10 seconds';
const PATIENT = { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' } as const;

/** Reads and writes of the stores: tried until the store is back. */
export const stores = proxyActivities<Activities>({
  startToCloseTimeout: '15 seconds',
  retry: PATIENT,
});

/**
 * Planning, questions, searches, writing: tried while Redis or llm-service is away, however long that is; given up
 * when a model keeps failing or the step has a fault of its own (`step-faults.ts`). A cancel does not wait for them.
 */
export const agents = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', maximumInterval: '5 seconds' },
});
