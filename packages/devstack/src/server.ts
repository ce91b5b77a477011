import { type Child, describeExit, lastLines, readLog, spawnChild } from './child.ts';
import { waitUntilReady } from './ready.ts';

/** A program that this process runs: it can be stopped, killed and started again as it was. */
export interface Server {
  readonly name: string;
  /** Of the running process; of the last one where none runs. */
  readonly pid: number;
  /** Ends it (SIGTERM) and removes its temporary folder; data in a folder that was given stays. */
  stop(): Promise<void>;
  /** SIGKILL; the data stays for `restart`. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data; stops it first where it still runs. */
  restart(): Promise<void>;
  /** Everything that it wrote to standard output and standard error. */
  logFile: string;
}

export interface ServerOptions {
  name: string;
  command: string;
  args: string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  logFile: string;
  /** Longest wait in milliseconds until it is ready. */
  limitMs: number;
  /** True when it is ready; a check that throws means: not yet. */
  isReady(start: Start): Promise<boolean>;
  /** Called once it is gone for good. */
  release?(): void;
  /** SIGKILL instead of SIGTERM, for a server whose data goes away with it. */
  stopAtOnce?: boolean;
  /** Gives the first start up. */
  signal?: AbortSignal | undefined;
  /** Told when it ends without having been asked to. */
  onCrash?: ((crash: Crash) => void) | undefined;
}

/** What a check of readiness can look at. */
export interface Start {
  pid: number;
  /** What the program has written since it was started. */
  log(): string;
}

export interface Crash {
  name: string;
  /** What became of it, in words. */
  reason: string;
  lastLines: string;
}

/**
 * Starts a program and waits until it is ready.
 * @throws {Error} with its last log lines where it ends early or is not ready in time; nothing is left then
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  let child: Child;
  let expected = false;
  let stopped = false;

  async function start(): Promise<void> {
    const before = readLog(options.logFile).length;
    const log = () => readLog(options.logFile).slice(before);
    const started = await spawnChild(options.command, options.args, options);
    try {
      await waitUntilReady({ ...options, log, child: started }, () =>
        options.isReady({ pid: started.pid, log }),
      );
    } catch (error) {
      await started.kill();
      throw error;
    }
    child = started;
    expected = false;
    void started.exited.then((exit) => {
      if (expected || child !== started) return;
      options.onCrash?.({ name: options.name, reason: describeExit(exit), lastLines: lastLines(log()) });
    });
  }

  async function end(how: 'stop' | 'kill'): Promise<void> {
    expected = true;
    await child[how]();
  }

  try {
    await start();
  } catch (error) {
    options.release?.();
    throw error;
  }
  return {
    name: options.name,
    logFile: options.logFile,
    get pid() {
      return child.pid;
    },
    async stop() {
      stopped = true;
      await end(options.stopAtOnce ? 'kill' : 'stop');
      options.release?.();
    },
    kill: () => end('kill'),
    async restart() {
      if (stopped) throw new Error(`${options.name} was stopped for good; start another one`);
      await end('stop');
      await start();
    },
  };
}
