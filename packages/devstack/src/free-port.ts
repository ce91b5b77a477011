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
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Refuses a port that is taken.
 * @throws {PortTakenError}
 */
export async function requireFreePort(port: number, user: string, host?: string): Promise<void> {
  if (!(await isPortFree(port, host))) throw new PortTakenError(port, user);
}

/** A port that another program listens on. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
  readonly port: number;

  constructor(port: number, user: string) {
    super(`port ${port} for ${user} is taken by another program`);
    this.port = port;
  }
}
