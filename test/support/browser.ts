import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../packages/devstack/src/install/chromium.ts';

/** Longest time in milliseconds that a browser may need to start; it is installed where it is missing. */
export const BROWSER_MS = 600_000;

/** A real browser; `hosts` are names that it finds on loopback, such as one of a hostile page. */
export async function startBrowser(hosts: string[] = []): Promise<Browser> {
  const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(', ');
  return chromium.launch({
    executablePath: await findChromium(),
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...(rules ? [`--host-resolver-rules=${rules}`] : []),
    ],
  });
}

/** A web server on loopback, of an origin of its own. */
export interface Pages {
  port: number;
  stop(): Promise<void>;
}

/** Serves files by their paths, such as `/` or `/client.js`. */
export async function servePages(files: Record<string, string>): Promise<Pages> {
  const server: Server = createServer((req, res) => {
    const path = new URL(req.url ?? '/', 'http://localhost').pathname;
    const text = files[path];
    if (text === undefined) res.writeHead(404).end();
    else res.setHeader('Content-Type', path.endsWith('.js') ? 'text/javascript' : 'text/html').end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
