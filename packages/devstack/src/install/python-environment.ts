import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache.ts';
import { type Report, run, silent } from './run.ts';

interface Making {
  report?: Report;
  /** Says where the user's cache is. */
  environment?: NodeJS.ProcessEnv;
}

/**
 * The `python` of a virtual environment with the packages that a file of pinned requirements names. It is made
 * once in the user's cache and used again until the file or the Python changes.
 * @throws {Error} with the last lines of the command that failed
 */
export async function pythonEnvironment(
  python: string,
  requirements: string,
  { report = silent, environment = process.env }: Making = {},
): Promise<string> {
  const version = await run(python, ['-c', 'import sys; print(sys.version, sys.base_prefix)']);
  const key = createHash('sha256')
    .update(version)
    .update(readFileSync(requirements))
    .digest('hex')
    .slice(0, 16);
  const environments = join(cacheFolder(environment), 'python');
  const current = join(environments, key);
  const program = join(current, 'bin', 'python');
  if (existsSync(program)) return program;

  report('making a virtual environment for Python and installing its packages (once) ...');
  mkdirSync(environments, { recursive: true });
  // A folder that keeps its name, because commands in it hold its path; the link is what makes it the current one.
  const folder = mkdtempSync(join(environments, `${key}-`));
  try {
    await run(python, ['-m', 'venv', folder], { report });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await run(join(folder, 'bin', 'python'), pip, { report });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(
      `The packages for the Python suites could not be installed:\n${error instanceof Error ? error.message : error}\n` +
        'Check that pip reaches its registry (python3 -m pip download pip), then try again.',
    );
  }
  const link = `${folder}.link`;
  symlinkSync(folder, link);
  renameSync(link, current);
  return program;
}
