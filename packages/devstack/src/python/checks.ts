import { delimiter, dirname, join } from 'node:path';
import { PROJECT_FOLDER } from '@plangate/service';
import { findPython } from '../install/python.ts';
import { pythonEnvironment } from '../install/python-environment.ts';
import type { Report } from '../install/run.ts';
import { type Counts, countJunit, sum } from '../test-counts.ts';

const SUITES = join(PROJECT_FOLDER, 'test', 'python');

export interface PythonChecks {
  /** A folder for what is written meanwhile. */
  work: string;
  report: Report;
  /** Runs a command to its end and shows what it says; true where it ended with 0. */
  succeeds(name: string, command: string, args: string[], env: NodeJS.ProcessEnv): Promise<boolean>;
}

/**
 * Lint, types and suites in Python, in a virtual environment of their own: the unmodified `shannon-sdk` against the
 * running product.
 * @throws {Error} where there is no Python, or its packages cannot be installed
 */
export async function pythonChecks({ work, report, succeeds }: PythonChecks): Promise<Counts> {
  const requirements = join(SUITES, 'requirements.txt');
  const python = await pythonEnvironment(await findPython({ report }), requirements, report);
  const bin = dirname(python);
  const env = {
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const check = async (name: string, ...args: string[]) =>
    (await succeeds(name, python, ['-m', ...args], env))
      ? { passed: 1, failed: 0 }
      : { passed: 0, failed: 1 };

  const config = join(SUITES, 'pyproject.toml');
  const quick = [
    await check('Python lint', 'ruff', 'check', '--no-cache', SUITES),
    await check('Python format', 'ruff', 'format', '--no-cache', '--check', SUITES),
    await check(
      'Python types',
      'mypy',
      `--config-file=${config}`,
      `--cache-dir=${join(work, 'mypy')}`,
      SUITES,
    ),
  ];
  const results = join(work, 'python.xml');
  const pytest = ['-m', 'pytest', '-c', config, '-p', 'no:cacheprovider', '-q'];
  const passed = await succeeds('Python suites', python, [...pytest, `--junit-xml=${results}`, SUITES], env);
  return sum([...quick, countJunit(results, passed)]);
}
