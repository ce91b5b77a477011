import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder of what Plangate keeps for this user between runs. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'plangate');
}

/** The folder of the programs that Plangate installed for this user. */
export function programFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(cacheFolder(environment), 'bin');
}
