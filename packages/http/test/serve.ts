import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { answerError, compose, type Middleware } from '../src/index.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  json: any;
}

export interface TestServer {
  server: Server;
  port: number;
  /** Lines of the log, parsed. */
  lines: Record<string, unknown>[];
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Sends bytes as they are and returns all that comes back until the server closes. */
  raw(bytes: string): Promise<string>;
  close(): Promise<void>;
}

export interface AskOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** A log whose lines are kept. */
export function keptLog() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** A bare HTTP server that runs the steps; what they throw is answered as in the apps. */
export function serve(...steps: Middleware[]): Promise<TestServer> {
  const { log, lines } = keptLog();
  const chain = compose(...steps);
  const server = createServer((req, res) => {
    const end = (error: unknown) => {
      if (error) answerError(log, error, req, res);
      else if (!res.writableEnded) res.end('passed');
    };
    void chain(req, res, end);
  });
  return listen(server, lines);
}

export async function listen(server: Server, lines: Record<string, unknown>[] = []): Promise<TestServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address;
  return {
    server,
    port,
    lines,
    ask: (path, options = {}) => ask(port, path, options),
    raw: (bytes) => raw(port, bytes),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One request to a server on loopback, on a connection of its own, and its whole answer. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: AskOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const req = request({
      port,
      host: '127.0.0.1',
      path,
      method,
      agent: false,
      headers: { ...length, ...headers },
    });
    req.once('error', reject);
    req.once('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.once('error', reject);
      res.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = res.headers['content-type']?.startsWith('application/json') && text !== '';
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    // A body that is text would take the header into its own encoding: as bytes, both go out as they are.
    req.end(typeof body === 'string' ? Buffer.from(body) : body);
  });
}

function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text));
  });
}
