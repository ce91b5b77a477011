import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Tells the person what is going on, one line at a time. */
export type Report = (line: string) => void;

/** The lines that nobody asked for. */
export const silent: Report = () => undefined;

/** The path of an executable file on PATH. */
export function onPath(command: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

/** True for a file that this user may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Runs a command to its end and reports every ten seconds that it still runs.
 * @throws {Error} with the last lines of its output where it fails
 */
export async function run(
  command: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; report?: Report } = {},
): Promise<string> {
  const began = performance.now();
  const timer = setInterval(() => {
    options.report?.(`  still at it (${Math.round((performance.now() - began) / 1000)} s)`);
  }, 10_000);
  try {
    return await finish(command, args, options);
  } finally {
    clearInterval(timer);
  }
}

function finish(
  command: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-20_000);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', (error) => reject(new Error(`${command}: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const ending = signal ?? `exit code ${code}`;
      const lines = output.trimEnd().split('\n').slice(-8).join('\n');
      reject(new Error(`${[command, ...args].join(' ')}: ${ending}\n${lines}`));
    });
  });
}
