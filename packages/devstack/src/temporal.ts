import { join } from 'node:path';
import { dataFolder } from './data-folder.ts';
import { freePort, requireFreePort } from './free-port.ts';
import { findTemporal } from './install/temporal.ts';
import { type Crash, type Server, startServer } from './server.ts';

export interface TemporalOptions {
  /** Default: a free one. */
  port?: number;
  /** Keeps workflows in this file; default: a temporary one, removed by `stop`. */
  dbFile?: string;
  logFile?: string;
  /** Gives the start up. */
  signal?: AbortSignal;
  /** Path of the `temporal` command; default: found or installed. */
  command?: string;
  onCrash?: ((crash: Crash) => void) | undefined;
}

/** A Temporal development server of one's own on loopback, with the namespace `default`. */
export interface TemporalServer extends Server {
  /** `host:port` for clients and workers. */
  readonly address: string;
  readonly port: number;
}

/**
 * Starts a Temporal development server and waits until it answers for its namespace.
 * @throws {Error} where the port is taken, or with the last log lines where it does not start
 */
export async function startTemporal(options: TemporalOptions = {}): Promise<TemporalServer> {
  const command = options.command ?? (await findTemporal());
  const port = options.port ?? (await freePort());
  await requireFreePort(port, 'Temporal');
  const temporary = options.dbFile === undefined || options.logFile === undefined;
  const folder = temporary ? dataFolder(undefined, 'temporal') : undefined;
  const file = (name: string) => join(folder?.path ?? '.', name);
  const address = `127.0.0.1:${port}`;
  const server = await startServer({
    name: 'temporal',
    command,
    // biome-ignore format: one setting a line
    args: [
      'server', 'start-dev',
      '--headless',
      '--ip', '127.0.0.1',
      '--port', String(port),
      '--db-filename', options.dbFile ?? file('temporal.db'),
      '--log-level', 'warn',
    ],
    logFile: options.logFile ?? file('temporal.log'),
    limitMs: 60_000,
    // A server that could not have the port says so much later, while another one may answer there.
    isReady: async ({ log }) => isUp(log(), port) && temporalAnswers(address),
    release: () => folder?.release(),
    stopAtOnce: options.dbFile === undefined,
    signal: options.signal,
    onCrash: options.onCrash,
  });
  return Object.assign(server, { address, port });
}

/** True where the command says that its server is up: `Server:  localhost:7233`. */
function isUp(log: string, port: number): boolean {
  return new RegExp(`^Server: +\\S+:${port}$`, 'm').test(log);
}

/** True where a Temporal server answers at `address` for `namespace`; throws where nothing does. */
export async function temporalAnswers(address: string, namespace = 'default'): Promise<boolean> {
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  try {
    await connection.withDeadline(Date.now() + 2_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } finally {
    await connection.close();
  }
}
