import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT_FOLDER } from './paths.ts';

/** What `npm start` says of the product that it runs, for the commands beside it. */
const RunningProduct = z.object({
  /** The process of `npm start`. */
  pid: z.int().positive(),
  /** The Redis that it has started. */
  redis_url: z.string(),
});
export type RunningProduct = z.infer<typeof RunningProduct>;

/** Where `npm start` keeps data and logs. */
export function startFolder(environment: NodeJS.ProcessEnv): string {
  return environment['PLANGATE_DATA'] || join(PROJECT_FOLDER, '.plangate');
}

/** Writes down the product that this process runs; returns the function that takes it back. */
export function recordRunning(folder: string, product: Omit<RunningProduct, 'pid'>): () => void {
  const record: RunningProduct = { pid: process.pid, ...product };
  writeFileSync(fileIn(folder), JSON.stringify(record), { mode: 0o600 });
  return () => rmSync(fileIn(folder), { force: true });
}

/** The product that runs with the data in `folder`; undefined where none does, or one that died is all there is. */
export function runningProduct(folder: string): RunningProduct | undefined {
  try {
    const record = RunningProduct.parse(JSON.parse(readFileSync(fileIn(folder), 'utf8')));
    return isProcess(record.pid) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** True where a process has this id, also one of another user. */
export function isProcess(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function fileIn(folder: string): string {
  return join(folder, 'running.json');
}
