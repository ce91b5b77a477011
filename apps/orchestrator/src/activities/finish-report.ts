import { Worker } from 'node:worker_threads';
import { type CheckedReport, finishReport, type ReportParts } from '@plangate/research';

/** A body up to this length is checked in milliseconds. */
const QUICK_LENGTH = 64 * 1024;
const THREAD = new URL('./finish-report-thread.ts', import.meta.url);

/**
 * The checked report. Megabytes of it take seconds: they are checked in a thread of their own, so that other steps of
 * this worker go on, and heartbeats with them.
 */
export async function finishAnyReport(parts: ReportParts, signal: AbortSignal): Promise<CheckedReport> {
  if (parts.body.length <= QUICK_LENGTH) return finishReport(parts);
  signal.throwIfAborted();
  const thread = new Worker(THREAD, { workerData: parts });
  const end = () => void thread.terminate();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<CheckedReport>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => reject(signal.reason ?? new Error('the report was not checked to its end')));
    });
  } finally {
    signal.removeEventListener('abort', end);
  }
}
