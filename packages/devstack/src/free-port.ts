import { createServer } from 'node:net';

/**
 * Ports below the range that systems hand out to outgoing connections (32768 on Linux, 49152 on macOS): a port
 * from here is still free when a server that was killed comes back to it.
 */
const FIRST = 15_000;
const LAST = 32_000;

const handedOut = new Set<number>();

/** A free TCP port on loopback that this process has not handed out before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (handedOut.has(port) || !(await isPortFree(port))) continue;
    handedOut.add(port);
    return port;
  }
  throw new Error(`no free port found between ${FIRST} and ${LAST} on 127.0.0.1`);
}

/** True where a server could listen on `host:port` now. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return (await portTrouble(port, host)) === undefined;
}

/** Why a server cannot listen, in words, and whether another port would help. */
export interface PortTrouble {
  reason: string;
  otherPortHelps: boolean;
}

/** Why a server could not listen on `host:port` now; undefined where it could. */
export function portTrouble(port: number, host = '127.0.0.1'): Promise<PortTrouble | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(troubleOf(error, host)));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/**
 * Refuses a port that cannot be listened on.
 * @throws {PortTakenError} saying why
 */
export async function requireFreePort(port: number, user: string, host?: string): Promise<void> {
  const trouble = await portTrouble(port, host);
  if (trouble) throw new PortTakenError(port, user, trouble.reason);
}

/** A port that a program of ours cannot have. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
  readonly port: number;

  constructor(port: number, user: string, reason: string) {
    super(`port ${port} for ${user} ${reason}`);
    this.port = port;
  }
}

function troubleOf({ code, message }: NodeJS.ErrnoException, host: string): PortTrouble {
  if (code === 'EADDRINUSE') return { reason: 'is taken by another program', otherPortHelps: true };
  if (code === 'EACCES') {
    return { reason: 'needs rights that this user does not have', otherPortHelps: true };
  }
  const foreign = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  const reason = `cannot be opened: ${foreign ? `${host} is no address of this machine` : message}`;
  return { reason, otherPortHelps: false };
}
