import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to Redis that can be broken off, so that whoever waits for a reply does not know what has happened. */
export interface BreakableWay {
  url: string;
  /** Swallows all replies for so many milliseconds, then breaks the connections off; new ones are not touched. */
  breakOff(silentMs: number): void;
  stop(): Promise<void>;
}

export async function startBreakableWay(redisPort: number): Promise<BreakableWay> {
  const ways = new Set<{ client: Socket; upstream: Socket; isMute: boolean }>();
  const server = createServer((client) => {
    const way = { client, upstream: connect(redisPort, '127.0.0.1'), isMute: false };
    ways.add(way);
    const end = () => {
      ways.delete(way);
      way.client.destroy();
      way.upstream.destroy();
    };
    for (const socket of [way.client, way.upstream]) socket.on('error', end).on('close', end);
    client.on('data', (chunk) => way.upstream.write(chunk));
    way.upstream.on('data', (chunk) => {
      if (!way.isMute) client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}/0`,
    breakOff(silentMs) {
      const broken = [...ways];
      for (const way of broken) way.isMute = true;
      setTimeout(() => {
        for (const { client } of broken) client.destroy();
      }, silentMs);
    },
    async stop() {
      for (const { client } of ways) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
