import { Agent, request } from 'node:http';

/** An answer, or nothing known because the connection was gone first. */
export type Reply =
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  { lost: false; status: number; etag: string | undefined; body: any } | { lost: true };

export interface Call {
  port: number;
  path: string;
  headers: Record<string, string>;
  /** Sent by POST; absent: a GET. */
  body?: unknown;
  /** Breaks the connection off after so many milliseconds. */
  cutAfter?: number | null;
}

const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });

/** One request; never rejects. */
export function call({ port, path, headers, body, cutAfter = null }: Call): Promise<Reply> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const req = request({
      agent,
      port,
      host: '127.0.0.1',
      path,
      method: payload === undefined ? 'GET' : 'POST',
      headers: payload === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
    });
    const timer = cutAfter === null ? undefined : setTimeout(() => req.destroy(), cutAfter);
    const end = (reply: Reply) => {
      clearTimeout(timer);
      resolve(reply);
    };
    req.once('error', () => end({ lost: true }));
    req.once('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.once('error', () => end({ lost: true }));
      res.once('close', () => end({ lost: true }));
      res.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0, headers: sent } = res;
        end({ lost: false, status, etag: sent.etag, body: text === '' ? null : JSON.parse(text) });
      });
    });
    req.end(payload);
  });
}
