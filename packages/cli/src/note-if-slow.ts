import type { Context } from './context.ts';

const PATIENCE_MS = 1_000;
const REMIND_MS = 15_000;

/**
 * Says on standard error what is being waited for where it takes longer than a second, and that it still is; or that
 * the gateway is what is missing.
 */
export async function noteIfSlow<T>(
  { output, gateway }: Pick<Context, 'output' | 'gateway'>,
  waitingFor: string,
  pending: Promise<T>,
): Promise<T> {
  const began = performance.now();
  const note = () => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    if (gateway.state === 'away')
      output.note(`Plangate at ${gateway.url} cannot be reached; trying again (Ctrl-C gives up) ...`);
    else if (gateway.state === 'unknown')
      output.note(`Plangate at ${gateway.url} has not answered yet (Ctrl-C gives up) ...`);
    else if (said) output.note(`  still waiting (${seconds} s)`);
    else {
      said = true;
      output.note(`Waiting for ${waitingFor} (Ctrl-C leaves it alone) ...`);
    }
  };
  let said = false;
  const first = setTimeout(note, PATIENCE_MS);
  const further = setInterval(note, REMIND_MS);
  try {
    return await pending;
  } finally {
    clearTimeout(first);
    clearInterval(further);
  }
}
