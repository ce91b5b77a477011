import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { forgetProcess, watchProcess } from './watchdog.ts';

/** How a process ended: an exit code, or the signal that ended it. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A program that this process started and that does not outlive it. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** Undefined while it runs. */
  exit(): Exit | undefined;
  /** SIGTERM, and SIGKILL where it is still there after `limitMs`; resolves when it is gone. */
  stop(limitMs?: number): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface ChildOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** File that standard output and standard error are appended to, or those of this process. */
  logFile: string | 'inherit';
}

/**
 * Starts a program in a process group of its own, so that Ctrl-C in a terminal reaches only this process,
 * which then stops everything in order.
 * @throws {Error} where the program cannot be started at all
 */
export async function spawnChild(command: string, args: string[], options: ChildOptions): Promise<Child> {
  const log = options.logFile === 'inherit' ? 'inherit' : openLog(options.logFile);
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  if (log !== 'inherit') closeSync(log);
  if (child.pid) watchProcess(child.pid);

  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      if (child.pid) forgetProcess(child.pid);
      resolve(exit);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${command} could not be started: ${error.message}`)));
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} could not be started`);

  const kill = async () => {
    if (!exit) signalGroup(pid, 'SIGKILL');
    await exited;
  };
  const stop = async (limitMs = 20_000) => {
    if (!exit) signalGroup(pid, 'SIGTERM');
    const timer = setTimeout(() => void kill(), limitMs);
    await exited;
    clearTimeout(timer);
  };
  return { pid, exited, exit: () => exit, stop, kill };
}

/** What became of an ended process, in words. */
export function describeExit({ code, signal }: Exit): string {
  return signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
}

/** The text of a log file; empty where there is none. */
export function readLog(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The last lines of a text. */
export function lastLines(text: string, count = 20): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, 'a');
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
