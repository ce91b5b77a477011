import type { Output } from './output.ts';

const PATIENCE_MS = 1_000;
const REMIND_MS = 15_000;

/** Says on standard error what is being waited for where it takes longer than a second, and that it still is. */
export async function noteIfSlow<T>(output: Output, waitingFor: string, pending: Promise<T>): Promise<T> {
  const began = performance.now();
  const first = setTimeout(
    () => output.note(`Waiting for ${waitingFor} (Ctrl-C leaves it alone) ...`),
    PATIENCE_MS,
  );
  const further = setInterval(() => {
    output.note(`  still waiting (${Math.round((performance.now() - began) / 1_000)} s)`);
  }, REMIND_MS);
  try {
    return await pending;
  } finally {
    clearTimeout(first);
    clearInterval(further);
  }
}
