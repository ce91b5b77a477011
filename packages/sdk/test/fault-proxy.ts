import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the proxy does with one request instead of passing it on. */
export type Fault =
  /** Answers by itself. */
  | { do: 'answer'; status: number; headers?: Record<string, string>; body?: string }
  /** Breaks the connection before the gateway hears of it. */
  | { do: 'refuse' }
  /** Passes the request on and breaks the connection instead of answering. */
  | { do: 'lose-answer' }
  /** Passes the request on and breaks the connection within the answer, after so many bytes. */
  | { do: 'cut'; afterBytes: number }
  /** Never answers. */
  | { do: 'hang' };

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
}

/** A proxy on loopback between a client and a gateway that fails as it is told. */
export interface FaultProxy {
  url: string;
  /** Every request so far. */
  seen: Seen[];
  /** What happens to the next requests that match; each fault once, then they pass. */
  fail(matches: (request: Seen) => boolean, ...faults: Fault[]): void;
  stop(): Promise<void>;
}

export async function startFaultProxy(gatewayUrl: string): Promise<FaultProxy> {
  const seen: Seen[] = [];
  const plans: { matches: (request: Seen) => boolean; faults: Fault[] }[] = [];
  const server = createServer((req, res) => {
    const { method = '', url = '', headers } = req;
    const one = { method, url, headers };
    seen.push(one);
    const fault = plans.find(({ matches, faults }) => faults.length > 0 && matches(one))?.faults.shift();
    if (fault) fail(gatewayUrl, req, res, fault);
    else pass(gatewayUrl, req, res, (answer) => answer.pipe(res));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    fail: (matches, ...faults) => void plans.push({ matches, faults }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function fail(gatewayUrl: string, req: IncomingMessage, res: ServerResponse, fault: Fault): void {
  switch (fault.do) {
    case 'answer':
      res.writeHead(fault.status, fault.headers);
      res.end(fault.body ?? '');
      return;
    case 'refuse':
      req.socket.resetAndDestroy();
      return;
    case 'hang':
      return;
    case 'lose-answer':
      pass(gatewayUrl, req, null, (answer) => {
        answer.resume();
        answer.once('end', () => req.socket.resetAndDestroy());
      });
      return;
    case 'cut':
      pass(gatewayUrl, req, res, (answer) => {
        let left = fault.afterBytes;
        answer.on('data', (chunk: Buffer) => {
          if (left < 0) return;
          res.write(chunk.subarray(0, left));
          left -= chunk.length;
          if (left < 0) setImmediate(() => req.socket.resetAndDestroy());
        });
        answer.once('end', () => res.end());
      });
      return;
  }
}

/** Sends the request on; without `res` the client sees nothing of the answer's head. */
function pass(
  gatewayUrl: string,
  req: IncomingMessage,
  res: ServerResponse | null,
  take: (answer: IncomingMessage) => void,
): void {
  const { method, headers } = req;
  const onward = request(`${gatewayUrl}${req.url}`, { method, headers, agent: false });
  onward.once('response', (answer) => {
    answer.on('error', () => req.socket.destroy());
    res?.writeHead(answer.statusCode ?? 502, answer.headers);
    take(answer);
  });
  onward.on('error', () => req.socket.destroy());
  req.socket.once('close', () => onward.destroy());
  req.pipe(onward);
}
