import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ToolServer {
  url: string;
  /** The `n` of every call that arrived, in order. */
  calls: number[];
  /** How a call is answered; default: at once, with `done n`. */
  on(n: number, answer: () => Promise<string>): void;
  stop(): Promise<void>;
}

/** A server on loopback that counts the calls of tools behind HTTP. */
export async function startToolServer(): Promise<ToolServer> {
  const calls: number[] = [];
  const answers = new Map<number, () => Promise<string>>();
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += String(chunk);
    const { n } = JSON.parse(text) as { n: number };
    calls.push(n);
    try {
      res.end(await (answers.get(n)?.() ?? Promise.resolve(`done ${n}`)));
    } catch {
      res.writeHead(500).end('a fault of the tool with its secrets');
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    on: (n, answer) => void answers.set(n, answer),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
