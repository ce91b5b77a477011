import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
    const file = join(mkdtempSync(join(tmpdir(), 'plangate-kept-')), 'text.md');
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    tell(`Nothing was changed. What you wrote is kept in ${file}`);
    throw error;
  }
}
