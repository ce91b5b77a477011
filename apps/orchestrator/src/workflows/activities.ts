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

/** The first plan: tried while llm-service is away, given up for good when the provider keeps failing. */
export const planner = proxyActivities<Activities>({
  startToCloseTimeout: '90 seconds',
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '1 second', maximumInterval: '10 seconds' },
});

/** Questions, searches, writing: some tries, then the task fails with the reason of the last one. */
export const researcher = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '1 second', maximumInterval: '20 seconds', maximumAttempts: 5 },
});
