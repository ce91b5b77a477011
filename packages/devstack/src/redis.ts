import { connect } from 'node:net';
import { join } from 'node:path';
import { type Child, spawnChild } from './child.ts';
import { dataFolder } from './data-folder.ts';
import { freePort, isPortFree } from './free-port.ts';
import { waitUntilReady } from './ready.ts';

export interface RedisOptions {
  /** Default: a free one. */
  port?: number;
  /** Folder of the append-only file; default: a temporary one, removed by `stop`. */
  dir?: string;
  /** Further arguments of `redis-server`. */
  args?: string[];
  /** Path of `redis-server`; default: the one on PATH. */
  command?: string;
}

/** A Redis server of one's own on loopback, which acknowledges a write when it is on disk. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGTERM, and removes the temporary folder; the data in a folder that was given stays. */
  stop(): Promise<void>;
  /** SIGKILL; the data stays for `restart`. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data, stopped first where it still runs. */
  restart(): Promise<void>;
}

/**
 * Starts Redis and waits until it answers.
 * @throws {Error} where the port is taken, or with the last log lines where Redis does not start
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  if (!(await isPortFree(port))) throw new Error(`port ${port} for Redis is taken`);
  const folder = dataFolder(options.dir, 'redis');
  const logFile = join(folder.path, 'redis.log');
  const start = () => launch(options, port, folder.path, logFile);

  let stopped = false;
  let child: Child;
  try {
    child = await start();
  } catch (error) {
    folder.release();
    throw error;
  }
  return {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    get pid() {
      return child.pid;
    },
    async stop() {
      stopped = true;
      await child.stop();
      folder.release();
    },
    kill: () => child.kill(),
    async restart() {
      if (stopped) throw new Error('this Redis was stopped for good; start another one');
      await child.stop();
      child = await start();
    },
  };
}

async function launch(options: RedisOptions, port: number, dir: string, logFile: string): Promise<Child> {
  const child = await spawnChild(
    options.command ?? 'redis-server',
    // biome-ignore format: one setting a line
    [
      '--port', String(port),
      '--bind', '127.0.0.1',
      '--protected-mode', 'yes',
      '--dir', dir,
      '--appendonly', 'yes',
      '--appendfsync', 'always',
      '--save', '',
      '--daemonize', 'no',
      ...(options.args ?? []),
    ],
    { logFile },
  );
  try {
    await waitUntilReady({ name: 'redis-server', child, logFile, limitMs: 20_000 }, () =>
      answers(port, child.pid),
    );
  } catch (error) {
    await child.kill();
    throw error;
  }
  return child;
}

/** True where the server on `port` has loaded its data and is the process `pid`, not another one on that port. */
function answers(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\nINFO server\r\n'));
    socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('close', () => resolve(false));
    let reply = '';
    socket.on('data', (chunk) => {
      reply += chunk.toString();
      const answered = /^\+PONG\r\n[\s\S]*\r\nprocess_id:(\d+)\r\n/.exec(reply);
      if (answered) resolve(Number(answered[1]) === pid);
      if (answered || reply.startsWith('-')) socket.destroy();
    });
  });
}
