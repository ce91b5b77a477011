import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProcess } from '@plangate/service';

/**
 * Keeps a second `npm start` off the same data.
 * @returns the function that lets go
 * @throws {Error} naming the process that holds the folder
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'pid');
  mkdirSync(folder, { recursive: true });
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch {
      const holder = Number(readFileSync(file, 'utf8'));
      if (isProcess(holder)) {
        throw new Error(
          `Plangate runs with the data in ${folder} already (process ${holder}); stop that one first.\n` +
            `If process ${holder} is another program, remove ${file}.`,
        );
      }
      rmSync(file, { force: true });
    }
  }
  throw new Error(`${file} could not be taken; another start was quicker`);
}
