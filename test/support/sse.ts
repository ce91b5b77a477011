import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { until } from './until.ts';

export type Frame = EventSourceMessage;

/** One reader of an event stream, on a connection of its own. */
export interface Reader {
  status(): number;
  headers(): IncomingMessage['headers'];
  /** Everything received so far, as it came. */
  text(): string;
  frames(): Frame[];
  /** The JSON of the frames, `done` left out. */
  // biome-ignore lint/suspicious/noExplicitAny: data of any event is looked into
  data(): any[];
  /** The names of the frames. */
  names(): string[];
  /** Waits for a frame with this name. */
  has(name: string): Promise<void>;
  /** Begins to take what comes, where it was opened with `read: false`. */
  resume(): void;
  /** How the connection ended: a clean end, or broken off. */
  ended: Promise<'end' | 'broken'>;
  close(): void;
}

export interface ReadOptions {
  /** Further query, such as `&types=PROGRESS`. */
  query?: string;
  headers?: Record<string, string>;
  /** Told of every frame. */
  onFrame?(frame: Frame): void;
  /** False: opens the stream and takes nothing of it. */
  read?: boolean;
}

/** Makes frames of the bytes of a stream, in whatever portions they come: inside a character, or between CR and LF. */
export function frameReader(onFrame: (frame: Frame) => void): {
  feed(bytes: Uint8Array): void;
  text(): string;
} {
  // The stream's own mark is left to the parser, which drops it once (WHATWG HTML §9.2.5).
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const parser = createParser({ onEvent: onFrame });
  let text = '';
  return {
    feed(bytes) {
      const piece = decoder.decode(bytes, { stream: true });
      text += piece;
      parser.feed(piece);
    },
    text: () => text,
  };
}

/** Opens `GET /api/v1/stream/sse` for a workflow. */
export function readStream(gatewayUrl: string, id: string, options: ReadOptions = {}): Reader {
  const { query = '', headers = {}, onFrame, read = true } = options;
  const frames: Frame[] = [];
  let response: IncomingMessage | undefined;
  const reader = frameReader((frame) => {
    frames.push(frame);
    onFrame?.(frame);
  });
  const take = (res: IncomingMessage) => {
    res.on('data', (chunk: Buffer) => reader.feed(chunk));
  };
  const url = `${gatewayUrl}/api/v1/stream/sse?workflow_id=${id}${query}`;
  const req: ClientRequest = request(url, {
    agent: false,
    headers: { Accept: 'text/event-stream', ...headers },
  });
  const ended = new Promise<'end' | 'broken'>((resolve) => {
    req.once('error', () => resolve('broken'));
    req.once('response', (res) => {
      response = res;
      res.once('error', () => resolve('broken'));
      res.once('end', () => resolve('end'));
      if (read) take(res);
    });
  });
  req.end();
  const names = () => frames.map(({ event = 'message' }) => event);
  return {
    status: () => response?.statusCode ?? 0,
    headers: () => response?.headers ?? {},
    text: reader.text,
    frames: () => frames,
    data: () => frames.filter(({ data }) => data.startsWith('{')).map(({ data }) => JSON.parse(data)),
    names,
    has: (name) => until(() => names().includes(name)),
    resume: () => response && take(response),
    ended,
    close: () => req.destroy(),
  };
}
