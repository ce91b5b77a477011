import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to Redis on which replies can be held back, so that a test can stop a process between two of its steps. */
export interface RedisProxy {
  url: string;
  /**
   * Holds replies back from the moment on at which a command that contains one of `texts` passes; resolves when each of
   * them has passed.
   */
  holdFrom(...texts: string[]): Promise<void>;
  /** Lets everything pass again, what was held first. */
  letPass(): void;
  stop(): Promise<void>;
}

export async function startRedisProxy(redisPort: number): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  let awaited: { texts: Set<string>; seen: () => void } | undefined;
  let held: (() => void)[] | undefined;

  const server = createServer((client) => {
    const upstream = connect(redisPort, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk) => {
      for (const text of awaited?.texts ?? []) {
        if (!chunk.includes(text)) continue;
        held ??= [];
        awaited?.texts.delete(text);
      }
      if (awaited?.texts.size === 0) {
        awaited.seen();
        awaited = undefined;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      const pass = () => void client.write(chunk);
      if (held) held.push(pass);
      else pass();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}/0`,
    holdFrom: (...texts) =>
      new Promise((seen) => {
        awaited = { texts: new Set(texts), seen };
      }),
    letPass() {
      const waiting = held ?? [];
      held = undefined;
      for (const pass of waiting) pass();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
