import type { z } from 'zod';

/** Shows one line to whoever watches. */
export type Say = (line: string) => void;

export interface Answer<T> {
  body: T;
  etag: string;
}

export interface Api {
  get<T extends z.ZodType>(path: string, shape: T): Promise<Answer<z.infer<T>>>;
  post<T extends z.ZodType>(
    path: string,
    body: object,
    shape: T,
    ifMatch?: string,
  ): Promise<Answer<z.infer<T>>>;
  open(path: string): Promise<ReadableStream<Uint8Array>>;
}

/** The public API of an app as any client would use it. */
export function connectApi(url: string, signal: AbortSignal): Api {
  const key = process.env['PLANGATE_API_KEY'];
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (key) headers.set('X-API-Key', key);
    const response = await fetch(`${url}${path}`, { ...init, headers, signal });
    if (response.ok) return response;
    if (response.status === 401) throw new Error('the gateway wants an API key: set PLANGATE_API_KEY to one');
    throw new Error(`${init.method} ${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  };
  async function answer<T extends z.ZodType>(response: Response, shape: T): Promise<Answer<z.infer<T>>> {
    const body = shape.parse(await response.json());
    return { body, etag: response.headers.get('etag') ?? '' };
  }
  return {
    get: async (path, shape) => answer(await call(path, { method: 'GET' }), shape),
    post: async (path, body, shape, ifMatch) => {
      const headers = { 'Content-Type': 'application/json', ...(ifMatch ? { 'If-Match': ifMatch } : {}) };
      return answer(await call(path, { method: 'POST', headers, body: JSON.stringify(body) }), shape);
    },
    open: async (path) => {
      const response = await call(path, { method: 'GET', headers: { Accept: 'text/event-stream' } });
      if (!response.body) throw new Error(`GET ${path}: the stream is empty`);
      return response.body;
    },
  };
}
