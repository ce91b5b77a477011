import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('watchdog.sh', import.meta.url));

/** A shell of its own session, so that nothing that ends this process ends it too. */
let watchdog: ChildProcess | undefined;

/** Has the process group `pid` ended when this process ends. */
export function watchProcess(pid: number): void {
  tell(`started ${pid}`);
}

/** Forgets a process group that has ended, so that its number can be used again by another program. */
export function forgetProcess(pid: number): void {
  tell(`ended ${pid}`);
}

/** Has the temporary folder removed when this process ends. */
export function watchFolder(path: string): void {
  tell(`folder ${path}`);
}

function tell(line: string): void {
  watchdog ??= startWatchdog();
  watchdog.stdin?.write(`${line}\n`);
}

function startWatchdog(): ChildProcess {
  const child = spawn('/bin/sh', [SCRIPT], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  child.unref();
  unrefStream(child.stdin);
  return child;
}

/** Lets this process end although the pipe is open: its end is what the watchdog waits for. */
function unrefStream(stream: Writable | null): void {
  if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}
