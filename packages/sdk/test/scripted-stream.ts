import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that answers the n-th opening of a stream the way its test says. */
export interface ScriptedStream {
  url: string;
  /** `Last-Event-ID` of every opening, null where there was none. */
  openings: { after: string | null; at: number }[];
  /** Openings whose connection is closed again. */
  closed(): number;
  stop(): Promise<void>;
}

export type Opening = (res: ServerResponse, req: IncomingMessage) => void;

/** @param openings what happens at each opening; the last one also at every further one */
export async function startScriptedStream(openings: Opening[]): Promise<ScriptedStream> {
  const seen: ScriptedStream['openings'] = [];
  let closed = 0;
  const server = createServer((req, res) => {
    const after = req.headers['last-event-id'];
    const opening = openings[Math.min(seen.length, openings.length - 1)];
    seen.push({ after: typeof after === 'string' ? after : null, at: performance.now() });
    res.once('close', () => {
      closed += 1;
    });
    opening?.(res, req);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openings: seen,
    closed: () => closed,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends the head of an event stream and this text; false where the reader is too slow. */
export function send(res: ServerResponse, text: string): boolean {
  if (!res.headersSent) res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  return res.write(text);
}

/** Sends this text and ends the answer, as one that is complete. */
export function sendAll(res: ServerResponse, text: string): void {
  send(res, text);
  res.end();
}

/** The frame of the n-th event. */
export function frame(n: number, name = 'PROGRESS', filler = ''): string {
  const data = {
    workflow_id: 'task-1',
    type: name,
    agent_id: 'a',
    message: filler,
    seq: n,
    stream_id: `1-${n}`,
  };
  return `id: 1-${n}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const DONE = 'id: 1-9999\nevent: done\ndata: [DONE]\n\n';
