import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DetailBody } from '@plangate/contracts';
import { type ErrorMiddleware, HttpError, requestIdOf, sendJson } from '@plangate/http';
import { isRedisUnavailable } from '@plangate/redis';
import type { Logger } from '@plangate/service';

/** An answer other than 200: `{"detail": …}` and nothing else. */
export class DetailError extends Error {
  override readonly name = 'DetailError';
  readonly status: number;
  readonly detail: DetailBody['detail'];
  readonly headers: Record<string, string>;

  constructor(status: number, detail: DetailBody['detail'], headers: Record<string, string> = {}) {
    super(typeof detail === 'string' ? detail : `${detail.length} faults`);
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

const RETRY_AFTER = { 'Retry-After': '2' };

/** 503 with when to ask again. */
export function unavailable(detail: string): DetailError {
  return new DetailError(503, detail, RETRY_AFTER);
}

/** Answers whatever a route threw with the contract's shape; unknown errors are logged with an id, told without internals. */
export function detailErrors(log: Logger): ErrorMiddleware {
  // Express knows an error middleware by its four parameters.
  return (error, req, res, _next) => {
    const known = toDetailError(error);
    if (!known) logUnknown(log, error, req);
    const { status, detail, headers } = known ?? new DetailError(500, 'Internal Server Error');
    if (res.headersSent) res.destroy();
    else sendJson(res, status, { detail }, headers);
  };
}

export function notFound(_req: IncomingMessage, res: ServerResponse): void {
  sendJson(res, 404, { detail: 'Not Found' });
}

/** 405 of a route that exists under another method (RFC 9110 §15.5.6). */
export function otherMethods(method: 'GET' | 'POST'): (req: IncomingMessage, res: ServerResponse) => void {
  const Allow = method === 'GET' ? 'GET, HEAD' : method;
  return (_req, res) => sendJson(res, 405, { detail: 'Method Not Allowed' }, { Allow });
}

function toDetailError(error: unknown): DetailError | undefined {
  if (error instanceof DetailError) return error;
  if (error instanceof HttpError) return new DetailError(error.status, error.message, error.headers);
  if (isRedisUnavailable(error)) return unavailable('Redis unavailable');
  // A path that cannot be decoded, as Express reports it.
  if (error instanceof URIError) return new DetailError(400, 'Invalid URL');
  return undefined;
}

/** Only what names the fault: further properties of an error may hold what a user sent. */
function logUnknown(log: Logger, error: unknown, req: IncomingMessage): void {
  const what =
    error instanceof Error
      ? { type: error.name, message: error.message, stack: error.stack }
      : { type: typeof error };
  log.error({ err: what, error_id: randomUUID(), request_id: requestIdOf(req) }, 'request failed');
}
