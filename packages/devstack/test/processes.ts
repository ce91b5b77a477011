import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** True while the process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

/** Waits until `condition` holds; fails after `limitMs`. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  limitMs = 15_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${condition}`);
    await delay(25);
  }
}
