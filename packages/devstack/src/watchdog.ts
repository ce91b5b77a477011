import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * A shell that outlives this process by a moment. It learns what was started and, when its standard input
 * ends because this process is gone, for whatever reason, ends those process groups (SIGTERM, after five
 * seconds SIGKILL) and removes the temporary folders.
 */
const SCRIPT = `
groups= folders=
while read -r verb value; do
  case $verb in
    started) groups="$groups $value" ;;
    ended) kept=; for g in $groups; do [ "$g" = "$value" ] || kept="$kept $g"; done; groups=$kept ;;
    folder) folders="$folders
$value" ;;
  esac
done
for g in $groups; do kill -TERM -"$g"; done
for _ in 1 2 3 4 5 6 7 8 9 10; do
  alive=; for g in $groups; do kill -0 -"$g" && alive=1; done
  [ -z "$alive" ] && break
  sleep 0.5
done
for g in $groups; do kill -KILL -"$g"; done
printf '%s\\n' "$folders" | while read -r f; do [ -n "$f" ] && rm -rf -- "$f"; done
`;

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
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'plangate-watchdog'], {
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
