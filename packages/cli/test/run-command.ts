import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The command as npx starts it in a clone. */
export const COMMAND = fileURLToPath(new URL('../bin/plangate.js', import.meta.url));

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  /** What it has written so far. */
  out(): string;
  err(): string;
  interrupt(signal?: 'SIGINT' | 'SIGTERM'): void;
  ended: Promise<Ended>;
}

export interface RunOptions {
  env?: Record<string, string>;
  input?: string;
  /** The input is written so many milliseconds after the start. */
  inputAfterMs?: number;
  cwd?: string;
  command?: string;
  /** Default: the Node of the tests. */
  node?: string;
}

/** Starts the command with pipes, as a script does. */
export function startCommand(args: string[], options: RunOptions = {}): Running {
  const { env = {}, input = '', inputAfterMs = 0, cwd, command = COMMAND, node = process.execPath } = options;
  const child = spawn(node, [command, ...args], { cwd, env: cleanEnvironment(env) });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk;
  });
  child.stdin.on('error', () => undefined);
  if (inputAfterMs > 0) setTimeout(() => child.stdin.end(input), inputAfterMs);
  else child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }));
  });
  return { out: () => out, err: () => err, interrupt: (signal = 'SIGINT') => child.kill(signal), ended };
}

/** Runs the command to its end. */
export function runCommand(args: string[], options: RunOptions = {}): Promise<Ended> {
  return startCommand(args, options).ended;
}

/** This process's environment without what would change the command. */
export function cleanEnvironment(more: Record<string, string>): NodeJS.ProcessEnv {
  const own = /^(PLANGATE_|REDIS_URL|NO_COLOR|FORCE_COLOR|CI$|VITEST|NODE_OPTIONS)/;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))), ...more };
}
