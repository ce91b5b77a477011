import type { Logger, Settings } from '@plangate/service';
import { startWorker as startTemporalWorker } from '@plangate/service/worker';
import type { Activities } from './activities/index.ts';
import { stepFaults } from './activities/step-faults.ts';

/**
 * Runs the worker of research and tasks until it is stopped.
 * @returns the function that stops it: what runs may finish, for ten seconds
 */
export function startWorker(
  { temporal }: Settings,
  activities: Activities,
  log: Logger,
): Promise<() => Promise<void>> {
  return startTemporalWorker({
    temporal,
    taskQueue: temporal.task_queue,
    workflows: new URL('./workflows/index.ts', import.meta.url),
    activities,
    interceptors: { activity: [() => ({ inbound: stepFaults })] },
    log,
  });
}
