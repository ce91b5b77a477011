import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatusError } from '@plangate/sdk';

/**
 * Sends what a person has written; where that fails, the text is kept in a file of the person's own.
 * @param tell is given the sentence that says where
 * @throws what `send` throws
 */
export async function sendOrKeep<T>(
  text: string,
  send: () => Promise<T>,
  tell: (line: string) => void,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    tell(`${outcomeOf(error)} ${keepText(`${text}\n`)}`);
    throw error;
  }
}

/** What an error says of the state of the review. */
export function outcomeOf(error: unknown): string {
  const isRefusal = error instanceof StatusError && (error.status < 500 || error.code === 'planner_failed');
  return isRefusal
    ? 'Nothing was changed.'
    : 'Whether it was taken is not known: plangate review get shows it.';
}

/**
 * Writes a text to a file of the person's own.
 * @returns the sentence that says where
 */
export function keepText(text: string | Buffer): string {
  const file = join(mkdtempSync(join(tmpdir(), 'plangate-kept-')), 'text.md');
  writeFileSync(file, text, { mode: 0o600 });
  return `What you wrote is kept in ${file}`;
}
