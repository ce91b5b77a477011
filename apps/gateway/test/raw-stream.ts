import { connect, type Socket } from 'node:net';
import { until } from './rig.ts';

export interface Frame {
  id?: string;
  event?: string;
  data?: string;
}

/** What a client sees of a stream, byte by byte. */
export interface RawStream {
  socket: Socket;
  /** All bytes so far. */
  text(): string;
  status(): number;
  head(): string;
  /** Frames with data; comments and `retry` are left out. */
  frames(): Frame[];
  /** How the connection ended: a clean end, or a reset. */
  ended: Promise<'end' | 'reset'>;
  has(part: string): Promise<void>;
  close(): void;
}

/** Opens a stream on a socket of its own. */
export function openStream(
  port: number,
  path: string,
  options: {
    key: string;
    headers?: Record<string, string>;
    version?: string;
    method?: string;
    read?: boolean;
  },
): RawStream {
  const { key, headers = {}, version = '1.1', method = 'GET', read = true } = options;
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8');
  if (read) socket.on('data', (chunk) => (text += chunk));
  const ended = new Promise<'end' | 'reset'>((resolve) => {
    socket.once('error', () => resolve('reset'));
    socket.once('end', () => resolve('end'));
    socket.once('close', (failed) => resolve(failed ? 'reset' : 'end'));
  });
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, 'X-API-Key': key, ...headers });
  socket.write(
    `${method} ${path} HTTP/${version}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  const split = () => {
    const at = text.indexOf('\r\n\r\n');
    return at < 0 ? { head: text, body: '' } : { head: text.slice(0, at), body: text.slice(at + 4) };
  };
  return {
    socket,
    ended,
    text: () => text,
    head: () => split().head,
    status: () => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
    frames: () =>
      split()
        .body.split('\n\n')
        .slice(0, -1)
        .map(parseFrame)
        .filter(({ data }) => data !== undefined),
    has: (part) => until(() => text.includes(part)),
    close: () => socket.destroy(),
  };
}

function parseFrame(text: string): Frame {
  const fields = text.split('\n').flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 2)]] : [];
  });
  return Object.fromEntries(fields) as Frame;
}
