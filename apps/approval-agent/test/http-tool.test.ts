import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Settings } from '@plangate/service';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTools } from '../src/tools/index.ts';

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

let server: Server;
let port: number;
let answer: (res: ServerResponse, req: IncomingMessage) => void;
const received: Received[] = [];

beforeAll(async () => {
  server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    received.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
    answer(res, req);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received.length = 0;
  answer = (res) => res.end('ok');
});

/** A tool as the settings declare it. */
function tool(more: object = {}, privateHosts: string[] = ['127.0.0.1']) {
  const settings = Settings.parse({
    approval_agent: {
      private_hosts: privateHosts,
      tools: [
        {
          name: 'create_ticket',
          description: 'Opens a ticket.',
          parameters: { type: 'object', properties: { title: { type: 'string' } } },
          url: `http://127.0.0.1:${port}/tickets?team=1`,
          method: 'POST',
          approval: 'required',
          ...more,
        },
      ],
    },
  }).approval_agent;
  const found = createTools(settings, { TOKEN: 'secret' }).find(({ name }) => name === 'create_ticket');
  return found!;
}
const run = (made: ReturnType<typeof tool>, args = {}, signal = new AbortController().signal) =>
  made.run(args, { id: 'call-1', signal });

describe('a tool behind HTTP', () => {
  test('gets the arguments as JSON, the credential and the id of the call; its text is the result', async () => {
    answer = (res) => res.writeHead(201).end('Ticket 7 für Ada');
    expect(await run(tool({ bearer_env: 'TOKEN' }), { title: 'Leak', more: [1, null] })).toBe(
      'Ticket 7 für Ada',
    );
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: '/tickets?team=1',
      body: '{"title":"Leak","more":[1,null]}',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer secret',
        'idempotency-key': 'call-1',
      },
    });
  });

  test('a GET gets them as query', async () => {
    await run(tool({ method: 'GET' }), { title: 'a b&c', tags: ['x', 'y'], n: 3 });
    expect(received[0]).toMatchObject({
      method: 'GET',
      url: '/tickets?team=1&title=a+b%26c&tags=x&tags=y&n=3',
      body: '',
    });
  });

  test.each<[string, object, typeof answer]>([
    ['404', {}, (res) => res.writeHead(404).end('no')],
    ['500', {}, (res) => res.writeHead(500).end('stack trace')],
    ['a broken connection', {}, (res) => res.socket?.destroy()],
    [
      'an answer that breaks off',
      {},
      (res) => res.writeHead(200, { 'Content-Length': 10 }).write('abc', () => res.destroy()),
    ],
    ['no answer', { timeout_seconds: 0.2 }, () => undefined],
    ['an answer that does not end', { timeout_seconds: 0.2 }, (res) => res.write('abc')],
    ['more than 1 MiB', {}, (res) => res.end('a'.repeat(1024 * 1024 + 1))],
    ['an answer that is no UTF-8', {}, (res) => res.end(Buffer.from([0xff, 0xfe]))],
    ['a redirect', {}, (res) => res.writeHead(302, { Location: `http://127.0.0.1:${port}/other` }).end()],
    [
      'a redirect to a public host',
      {},
      (res) => res.writeHead(307, { Location: 'https://example.org/' }).end(),
    ],
  ])('%s is a fault, and asked once', async (_name, more, step) => {
    answer = step;
    await expect(run(tool(more))).rejects.toThrow();
    expect(received).toHaveLength(1);
  });

  test('exactly 1 MiB is read', async () => {
    answer = (res) => res.end('a'.repeat(1024 * 1024));
    expect(await run(tool())).toHaveLength(1024 * 1024);
  });

  test('a call that nobody waits for any more ends', async () => {
    answer = () => abort.abort();
    const abort = new AbortController();
    await expect(run(tool(), {}, abort.signal)).rejects.toThrow();
  });
});

describe('a tool reaches no private address unless the settings allow its host', () => {
  test.each([
    '127.0.0.1',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00::1]',
    '[64:ff9b::7f00:1]',
    '[::7f00:1]',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
  ])('%s', async (host) => {
    const made = tool({ url: `http://${host}:${port}/`, timeout_seconds: 2 }, []);
    await expect(run(made)).rejects.toThrow('a private address');
    expect(received).toEqual([]);
  });

  test('allowing one host allows no other', async () => {
    const made = tool({ url: `http://localhost:${port}/` }, ['127.0.0.1']);
    await expect(run(made)).rejects.toThrow('a private address');
    expect(await run(tool({ url: `http://localhost:${port}/` }, ['localhost']))).toBe('ok');
  });
});
