/** How workflows reach their activities: one proxy per kind of work, each with its own patience. */
import { proxyActivities } from '@temporalio/workflow';
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
 * Planning, questions, searches, writing: tried while Redis or llm-service is away, given up when a model keeps
 * failing; then the task fails with the reason of the last try.
 */
export const agents = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '30 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '1 second', maximumInterval: '5 seconds' },
});
