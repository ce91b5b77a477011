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
  /** The head and the body so far; chunks are put together. */
  text(): string;
  /** True once the body is complete, where it is chunked: its last chunk has come. */
  complete(): boolean;
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
  const answer = readAnswer();
  if (read) socket.on('data', answer.feed);
  const ended = new Promise<'end' | 'reset'>((resolve) => {
    socket.once('error', () => resolve('reset'));
    socket.once('end', () => resolve('end'));
    socket.once('close', (failed) => resolve(failed ? 'reset' : 'end'));
  });
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, 'X-API-Key': key, ...headers });
  socket.write(
    `${method} ${path} HTTP/${version}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  const text = () => answer.head() + answer.body();
  return {
    socket,
    ended,
    text,
    complete: answer.complete,
    head: () => answer.head().trimEnd(),
    status: () => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer.head())?.[1] ?? 0),
    frames: () =>
      answer
        .body()
        .split('\n\n')
        .slice(0, -1)
        .map(parseFrame)
        .filter(({ data }) => data !== undefined),
    has: (part) => until(() => text().includes(part)),
    close: () => socket.destroy(),
  };
}

/** Takes the bytes of one answer as they come; a chunked body is put together (RFC 9112 §7.1). */
function readAnswer() {
  const decoder = new TextDecoder();
  let rest = Buffer.alloc(0);
  let head = '';
  let body = '';
  let complete = false;

  function takeChunk(): boolean {
    const line = rest.indexOf('\r\n');
    const size = line < 0 ? Number.NaN : Number.parseInt(rest.subarray(0, line).toString(), 16);
    const end = line + 2 + size;
    if (Number.isNaN(size) || end + 2 > rest.length) return false;
    body += decoder.decode(rest.subarray(line + 2, end), { stream: true });
    rest = rest.subarray(end + 2);
    complete = size === 0;
    return !complete;
  }

  function feed(bytes: Buffer): void {
    rest = Buffer.concat([rest, bytes]);
    if (head === '') {
      const at = rest.indexOf('\r\n\r\n');
      if (at < 0) return;
      head = rest.subarray(0, at + 4).toString();
      rest = rest.subarray(at + 4);
    }
    if (/^transfer-encoding: chunked\r$/im.test(head)) while (takeChunk());
    else {
      body += decoder.decode(rest, { stream: true });
      rest = Buffer.alloc(0);
    }
  }
  return { feed, head: () => head, body: () => body, complete: () => complete };
}

function parseFrame(text: string): Frame {
  const fields = text.split('\n').flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 2)]] : [];
  });
  return Object.fromEntries(fields) as Frame;
}
