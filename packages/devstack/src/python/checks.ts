import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { PROJECT_FOLDER } from '@plangate/service';
import { findPython } from '../install/python.ts';
import { pythonEnvironment } from '../install/python-environment.ts';
import type { Report } from '../install/run.ts';
import { type Counts, countJunit, sum } from '../test-counts.ts';

const SDK = join(PROJECT_FOLDER, 'packages', 'sdk-python');
const SUITES = join(PROJECT_FOLDER, 'test', 'python');

export interface PythonChecks {
  /** A folder for what is written meanwhile. */
  work: string;
  report: Report;
  /** Runs a command to its end and shows what it says; true where it ended with 0. */
  succeeds(name: string, command: string, args: string[], env: NodeJS.ProcessEnv): Promise<boolean>;
}

/**
 * Lint, types, build and suites in Python, in a virtual environment of their own: the Python SDK, as its wheel has it,
 * and the unmodified `shannon-sdk`, both against the running product.
 * @throws {Error} where there is no Python, or its packages cannot be installed
 */
export async function pythonChecks({ work, report, succeeds }: PythonChecks): Promise<Counts> {
  const requirements = join(SUITES, 'requirements.txt');
  const python = await pythonEnvironment(await findPython({ report }), requirements, { report });
  const installed = join(work, 'site');
  const env = {
    PATH: [dirname(python), dirname(process.execPath), process.env['PATH']].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPATH: installed,
    MYPYPATH: installed,
  };
  const check = async (name: string, ...args: string[]) =>
    (await succeeds(name, python, ['-m', ...args], env))
      ? { passed: 1, failed: 0 }
      : { passed: 0, failed: 1 };
  const types = (name: string, folder: string) =>
    check(name, 'mypy', `--config-file=${configOf(folder)}`, `--cache-dir=${join(work, 'mypy')}`, folder);
  const suite = async (name: string, folder: string, before: string[] = []) => {
    const results = join(work, `${name}.xml`);
    const options = ['-c', configOf(folder), '-p', 'no:cacheprovider', '-q', `--junit-xml=${results}`];
    const path = { PYTHONPATH: [...before, installed].join(delimiter) };
    const passed = await succeeds(name, python, ['-m', 'pytest', ...options, folder], { ...env, ...path });
    return countJunit(results, passed);
  };

  const dist = join(work, 'dist');
  const lowest = join(work, 'lowest');
  return sum([
    await check('Python lint', 'ruff', 'check', '--no-cache', SDK, SUITES),
    await check('Python format', 'ruff', 'format', '--no-cache', '--check', SDK, SUITES),
    await check('Python SDK build', 'build', '--no-isolation', '--outdir', dist, SDK),
    await check('Python SDK installation', 'pip', ...INSTALL, '--target', installed, ...wheels(dist)),
    await types('Python SDK types', SDK),
    await types('Python suite types', SUITES),
    await suite('Python SDK suite', SDK),
    await check('Python SDK lowest versions', 'pip', ...INSTALL, '--target', lowest, ...lowestVersions()),
    await suite('Python SDK suite with the lowest versions', SDK, [lowest]),
    await suite('Python product suites', SUITES),
  ]);
}

const INSTALL = ['install', '--quiet', '--disable-pip-version-check', '--no-deps'];

/** What the SDK depends on, in the oldest versions that it says it works with. */
function lowestVersions(): string[] {
  const [, list = ''] = /^dependencies = \[(.*)\]$/m.exec(readFileSync(configOf(SDK), 'utf8')) ?? [];
  const names = [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.replace('>=', '=='));
  if (names.length === 0) throw new Error(`${configOf(SDK)} names no dependencies`);
  return names;
}

function configOf(folder: string): string {
  return join(folder, 'pyproject.toml');
}

function wheels(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.whl'))
    .map((name) => join(folder, name));
}
