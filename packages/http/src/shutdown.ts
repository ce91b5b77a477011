import type { Server } from 'node:http';

/** How often connections that have become idle are closed while a server stops, in milliseconds. */
const SWEEP_MS = 50;

export interface StoppableServer {
  /** Runs `stop` when the server begins to stop, such as the end of an open stream; returns what takes it back. */
  onStop(stop: () => void): () => void;
  /** True from the moment when stopping begins. */
  readonly stopping: boolean;
  /**
   * Takes no new connection, ends streams through their hooks, lets requests that run finish, and closes the
   * connections of those that have not after `limitMs`. A second call waits for the first.
   */
  stop(): Promise<void>;
}

/** Makes a server stoppable; call it before the server listens. */
export function stoppable(server: Server, { limitMs = 10_000 }: { limitMs?: number } = {}): StoppableServer {
  const hooks = new Set<() => void>();
  let stopped: Promise<void> | undefined;

  server.prependListener('request', (_req, res) => {
    if (stopped) res.setHeader('Connection', 'close');
  });

  return {
    onStop(stop) {
      if (stopped) stop();
      else hooks.add(stop);
      return () => hooks.delete(stop);
    },
    get stopping() {
      return stopped !== undefined;
    },
    stop() {
      stopped ??= close(server, limitMs, hooks);
      return stopped;
    },
  };
}

function close(server: Server, limitMs: number, hooks: ReadonlySet<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(limit);
      resolve();
    });
    for (const stop of hooks) stop();
  });
}
