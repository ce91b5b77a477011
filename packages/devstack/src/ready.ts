import { setTimeout as delay } from 'node:timers/promises';
import { type Child, describeExit, lastLines } from './child.ts';

interface Wait {
  name: string;
  child: Child;
  /** What it has written since it was started. */
  log(): string;
  limitMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until `check` says that the program is ready. A check that throws means: not yet.
 * @throws {Error} with the program's last log lines, as soon as it has ended or when `limitMs` are over
 */
export async function waitUntilReady(wait: Wait, check: () => Promise<boolean>): Promise<void> {
  const { name, child, log, limitMs } = wait;
  const end = performance.now() + limitMs;
  for (;;) {
    const exit = child.exit();
    if (exit) throw new Error(`${name} ${describeExit(exit)} before it was ready\n${lastLines(log())}`);
    if (wait.signal?.aborted) throw new Error(`the start of ${name} was given up`);
    if (await check().catch(() => false)) return;
    if (performance.now() > end) {
      throw new Error(`${name} was not ready within ${limitMs / 1000} s\n${lastLines(log())}`);
    }
    await Promise.race([delay(25), child.exited]);
  }
}
