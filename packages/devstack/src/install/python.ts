import { onPath, type Report, run, silent } from './run.ts';
import { installSystemPackages } from './system-packages.ts';

interface Search {
  report?: Report;
  environment?: NodeJS.ProcessEnv;
}

const ADVICE =
  'Install Python 3.9 or later with its venv module (https://www.python.org/downloads/; on Debian and Ubuntu ' +
  '`apt-get install -y python3 python3-venv`) so that `python3` is on PATH.';

/** Says what is missing of Python 3.9 with virtual environments; nothing where all is there. */
const LOOK = `
import sys
if sys.version_info < (3, 9): print("it is Python %d.%d" % sys.version_info[:2])
else:
    try: import ensurepip, venv
    except ImportError as error: print("its module %s is missing" % error.name)
`;

/**
 * The path of a `python3` from 3.9 that can make virtual environments: on PATH, or completed with apt (as root,
 * or in CI with sudo) or brew.
 * @throws {Error} saying what to do, where it is too old, or not there and cannot be installed
 */
export async function findPython({
  report = silent,
  environment = process.env,
}: Search = {}): Promise<string> {
  const found = onPath('python3', environment);
  const fault = found ? await missing(found, environment) : 'python3 is not on PATH';
  if (found && fault === '') return found;

  const names = { apt: ['python3', 'python3-venv'], brew: ['python'] };
  const installed = await installSystemPackages(names, report, environment).catch((error: Error) => {
    throw new Error(`Python could not be installed:\n${error.message}\n${ADVICE}`);
  });
  const again = installed ? onPath('python3', environment) : undefined;
  if (again && (await missing(again, environment)) === '') return again;
  throw new Error(`Python cannot be used: ${found ? `${found}: ` : ''}${fault}.\n${ADVICE}`);
}

async function missing(python: string, environment: NodeJS.ProcessEnv): Promise<string> {
  return (await run(python, ['-c', LOOK], { env: environment })).trim();
}
