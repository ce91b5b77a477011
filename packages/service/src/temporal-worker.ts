import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from './log.ts';
import type { Settings } from './settings.ts';

/** How long a waiting workflow stays with a worker that may have died before another one takes it. */
const STICKY = '3 seconds';
const SHUTDOWN_GRACE = '10 seconds';
const RECONNECT_MS = 1_000;

export interface WorkerParts
  extends Pick<
    WorkerOptions,
    'taskQueue' | 'activities' | 'interceptors' | 'maxConcurrentWorkflowTaskExecutions' | 'shutdownGraceTime'
  > {
  temporal: Settings['temporal'];
  /** The module that exports the workflows. */
  workflows: URL;
  log: Logger;
}

/**
 * Runs a Temporal worker until it is stopped; waits for Temporal where it is not there yet, and starts anew where the
 * worker failed.
 * @returns the function that stops it: what runs may finish, for ten seconds unless the parts say otherwise
 */
export async function startWorker(parts: WorkerParts): Promise<() => Promise<void>> {
  const { temporal, workflows, log, ...options } = parts;
  Runtime.install({ logger: engineLogger(log), shutdownSignals: [] });
  const stopped = new AbortController();
  let worker: Worker | null = null;

  const running = (async () => {
    while (!stopped.signal.aborted) {
      const connection = await connect(temporal.address, log, stopped.signal);
      if (!connection) return;
      try {
        worker = await Worker.create({
          connection,
          namespace: temporal.namespace,
          workflowsPath: fileURLToPath(workflows),
          stickyQueueScheduleToStartTimeout: STICKY,
          maxConcurrentWorkflowTaskExecutions: 40,
          maxConcurrentActivityTaskExecutions: 100,
          shutdownGraceTime: SHUTDOWN_GRACE,
          ...options,
        });
        log.info({ task_queue: options.taskQueue, address: temporal.address }, 'worker running');
        const run = worker.run();
        // The stop may have come while the workflows were bundled.
        if (stopped.signal.aborted) worker.shutdown();
        await run;
      } catch (error) {
        log.error({ err: error }, 'worker failed, starting again');
        await pause(RECONNECT_MS);
      } finally {
        worker = null;
        await connection
          .close()
          .catch((error: unknown) => log.warn({ err: error }, 'closing the connection'));
      }
    }
  })();

  return async () => {
    stopped.abort();
    worker?.shutdown();
    await running;
  };
}

/** Connects as soon as the engine is there; null where the process stops first. */
async function connect(address: string, log: Logger, stop: AbortSignal): Promise<NativeConnection | null> {
  for (let attempt = 1; !stop.aborted; attempt += 1) {
    try {
      return await NativeConnection.connect({ address });
    } catch (error) {
      if (attempt === 1) log.warn({ address, err: String(error) }, 'waiting for Temporal');
      await pause(RECONNECT_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }
  return null;
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The engine's own log lines, in the log of the process. */
function engineLogger(log: Logger): DefaultLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }) => {
    const details = meta
      ? Object.fromEntries(Object.entries(meta).filter(([, value]) => typeof value !== 'bigint'))
      : {};
    log[LEVELS[level]](details, message);
  });
}
