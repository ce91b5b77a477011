import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type StoppableServer, stoppable } from '../src/index.ts';
import { listen, type TestServer } from './serve.ts';

let site: TestServer;
let stopper: StoppableServer;
afterEach(() => site.close());

async function serveStoppable(listener: RequestListener, limitMs?: number) {
  const server = createServer(listener);
  stopper = stoppable(server, limitMs === undefined ? {} : { limitMs });
  site = await listen(server);
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('a server that stops', () => {
  test('lets the request that runs finish, takes no new one and closes the connection', async () => {
    const [arrived, release] = [gate(), gate()];
    await serveStoppable(async (_req, res) => {
      arrived.open();
      await release.opened;
      res.end('done');
    });
    const running = site.ask('/');
    await arrived.opened;
    const stopped = stopper.stop();
    expect(stopper.stopping).toBe(true);
    await expect(site.ask('/')).rejects.toThrow(/ECONNREFUSED/);
    release.open();
    expect((await running).text).toBe('done');
    await stopped;
  });

  test('does not wait for connections that are kept alive without a request', async () => {
    await serveStoppable((_req, res) => void res.end('x'), 60_000);
    const agent = new Agent({ keepAlive: true });
    const [res] = await once(request({ port: site.port, agent }).end(), 'response');
    res.resume();
    await once(res, 'end');
    await stopper.stop();
    agent.destroy();
  });

  test('closes a kept connection as soon as its last request is answered', async () => {
    const [arrived, release] = [gate(), gate()];
    await serveStoppable(async (_req, res) => {
      arrived.open();
      await release.opened;
      res.end('x');
    }, 60_000);
    site.server.keepAliveTimeout = 60_000;
    const agent = new Agent({ keepAlive: true });
    const answered = once(request({ port: site.port, agent }).end(), 'response');
    await arrived.opened;
    const stopped = stopper.stop();
    release.open();
    const [res] = await answered;
    res.resume();
    await stopped;
    agent.destroy();
  });

  test('answers a request that still comes on an open connection, and says that it is the last', async () => {
    const [first, second, release] = [gate(), gate(), gate()];
    await serveStoppable(async (req, res) => {
      (req.url === '/1' ? first : second).open();
      await release.opened;
      res.end(req.url);
    }, 60_000);
    const socket = connect(site.port, '127.0.0.1').setEncoding('latin1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write('GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await first.opened;
    const stopped = stopper.stop();
    socket.write('GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await second.opened;
    release.open();
    await stopped;
    if (!socket.closed) await once(socket, 'close');
    expect(text).toMatch(/keep-alive.*\/1HTTP.*Connection: close.*\/2$/s);
  });

  test('breaks off what has not ended at the limit', async () => {
    const arrived = gate();
    await serveStoppable(() => arrived.open(), 50);
    const hanging = site.ask('/');
    const failed = expect(hanging).rejects.toThrow(/ECONNRESET|hang up/);
    await arrived.opened;
    await stopper.stop();
    await failed;
  });

  test('tells open streams, once, and not those that have ended', async () => {
    await serveStoppable((_req, res) => void res.end());
    const told: string[] = [];
    stopper.onStop(() => told.push('open'));
    stopper.onStop(() => told.push('ended'))();
    await Promise.all([stopper.stop(), stopper.stop()]);
    expect(told).toEqual(['open']);
  });

  test('tells a stream that comes too late at once', async () => {
    await serveStoppable((_req, res) => void res.end());
    await stopper.stop();
    const told: string[] = [];
    stopper.onStop(() => told.push('late'));
    expect(told).toEqual(['late']);
  });

  test('ends a stream by its hook before the limit', async () => {
    const arrived = gate();
    await serveStoppable((_req, res) => {
      res.write(': ping\n\n');
      stopper.onStop(() => res.socket?.resetAndDestroy());
      arrived.open();
    }, 60_000);
    const failed = expect(site.ask('/')).rejects.toThrow();
    await arrived.opened;
    await stopper.stop();
    await failed;
  });
});
