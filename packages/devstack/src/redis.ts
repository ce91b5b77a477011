import { connect } from 'node:net';
import { join } from 'node:path';
import { dataFolder } from './data-folder.ts';
import { freePort, requireFreePort } from './free-port.ts';
import { type Crash, type Server, startServer } from './server.ts';

export interface RedisOptions {
  /** Default: a free one. */
  port?: number;
  /** Folder of the append-only file; default: a temporary one, removed by `stop`. */
  dir?: string;
  /** Further arguments of `redis-server`. */
  args?: string[];
  /** Path of `redis-server`; default: the one on PATH. */
  command?: string;
  logFile?: string;
  /** Gives the start up. */
  signal?: AbortSignal;
  onCrash?: ((crash: Crash) => void) | undefined;
}

/** A Redis server of one's own on loopback, which acknowledges a write when it is on disk. */
export interface RedisServer extends Server {
  readonly url: string;
  readonly port: number;
}

/**
 * Starts Redis and waits until it answers.
 * @throws {Error} where the port is taken, or with the last log lines where Redis does not start
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  await requireFreePort(port, 'Redis');
  const folder = dataFolder(options.dir, 'redis');
  const server = await startServer({
    name: 'redis-server',
    command: options.command ?? 'redis-server',
    // biome-ignore format: one setting a line
    args: [
      '--port', String(port),
      '--bind', '127.0.0.1',
      '--protected-mode', 'yes',
      '--dir', folder.path,
      '--appendonly', 'yes',
      '--appendfsync', 'always',
      '--save', '',
      '--daemonize', 'no',
      ...(options.args ?? []),
    ],
    logFile: options.logFile ?? join(folder.path, 'redis.log'),
    limitMs: 20_000,
    isReady: ({ pid }) => answers(port, pid),
    release: folder.release,
    signal: options.signal,
    onCrash: options.onCrash,
  });
  return Object.assign(server, { url: `redis://127.0.0.1:${port}/0`, port });
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
