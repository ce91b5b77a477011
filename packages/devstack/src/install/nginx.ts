import { delimiter } from 'node:path';
import { onPath, type Report, silent } from './run.ts';
import { installSystemPackages } from './system-packages.ts';

/** Where package managers put it without being on everybody's PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

/**
 * The path of `nginx`: on PATH, where systems keep it, or installed with apt (as root, or in CI with sudo) or brew.
 * @throws {Error} saying what to do, where it is not there and cannot be installed
 */
export async function findNginx(
  report: Report = silent,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const look = () => {
    const PATH = [environment['PATH'], ...SYSTEM_FOLDERS].join(delimiter);
    return onPath('nginx', { ...environment, PATH });
  };
  const found = look();
  if (found) return found;
  await installSystemPackages({ apt: ['nginx-light'], brew: ['nginx'] }, report, environment);
  const installed = look();
  if (!installed) throw new Error('nginx is not there and could not be installed: put it on PATH');
  return installed;
}
