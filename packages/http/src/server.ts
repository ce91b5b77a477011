import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpError, sendError } from './errors.ts';

/**
 * How long an idle connection stays open, in milliseconds: longer than the 60 s for which proxies commonly keep theirs.
 * The side that sends closes first, or a request meets a connection that is just being closed.
 */
const IDLE_MS = 75_000;

/**
 * An HTTP server that answers in the one error shape also where Node would answer by itself, with an empty body: a
 * request that is no HTTP, too large a head, one that is too slow, an expectation that nobody can meet, and a
 * missing or repeated `Host` (RFC 9112 §3.2).
 */
export function createHttpServer(handler: RequestListener): Server {
  /** Answers that are under way on a connection. */
  const answering = new WeakMap<Duplex, number>();
  const server = createServer({ requireHostHeader: false, keepAliveTimeout: IDLE_MS }, (req, res) => {
    answering.set(req.socket, (answering.get(req.socket) ?? 0) + 1);
    res.once('close', () => answering.set(req.socket, (answering.get(req.socket) ?? 1) - 1));
    const refusal = refuseHost(req);
    if (!refusal) return handler(req, res);
    res.setHeader('X-Request-ID', randomUUID());
    sendError(res, refusal);
  });
  server.on('checkExpectation', (_req, res) => {
    res.setHeader('X-Request-ID', randomUUID());
    sendError(res, new HttpError(417, 'expectation_failed', 'Expectation failed'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // In front of or inside an answer under way nothing else may be written: the connection is broken off.
    if ((answering.get(socket) ?? 0) > 0) socket.resetAndDestroy();
    else answerBroken(error, socket);
  });
  return server;
}

/**
 * Binds the server.
 * @returns its URL
 * @throws the error of the system, such as `EADDRINUSE`
 */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  const bound = server.address() as AddressInfo;
  const address = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return `http://${address}:${bound.port}`;
}

function refuseHost(req: IncomingMessage): HttpError | null {
  const hosts = req.headersDistinct['host'] ?? [];
  if (hosts.length === 1 || (hosts.length === 0 && req.httpVersion === '1.0')) return null;
  return new HttpError(400, 'bad_request', 'Bad request');
}

/** Codes of Node's parser that are not simply a bad request. */
const FAULTS: Record<string, [status: number, code: string, text: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'Request header fields too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'Request timeout'],
};

function answerBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, text] = FAULTS[error.code ?? ''] ?? [400, 'bad_request', 'Bad request'];
  const body = JSON.stringify({ error: text, code });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
