import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from './watchdog.ts';

/** A folder for a server's data. */
export interface DataFolder {
  path: string;
  /** Removes a temporary folder; keeps one that was given. */
  release(): void;
}

/** The folder that was given, made where it is missing, or else a temporary one that ends with this process. */
export function dataFolder(given: string | undefined, name: string): DataFolder {
  if (given !== undefined) {
    mkdirSync(given, { recursive: true });
    return { path: given, release: () => undefined };
  }
  const path = mkdtempSync(join(tmpdir(), `plangate-${name}-`));
  watchFolder(path);
  return { path, release: () => rmSync(path, { recursive: true, force: true }) };
}
