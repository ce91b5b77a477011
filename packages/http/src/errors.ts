import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, STORE_UNAVAILABLE } from '@plangate/contracts';
import { isRedisUnavailable, isUnreadable, keysOf } from '@plangate/redis';
import type { Logger } from 'pino';
import { requestIdOf } from './request-id.ts';
import { sendJson } from './send-json.ts';

/** Seconds after which a client may ask again when a part is away (`contract/plan-review.md` §6). */
const RETRY_AFTER_SECONDS = 2;

/** Express's signature of an error middleware. */
export type ErrorMiddleware = (
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** An answer other than 2xx, with the contract's exact text; thrown by whatever finds the reason. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** Slug for programs, listed in `docs/errors.md`. */
  readonly code: string;
  /** Further fields of the error body. */
  readonly fields: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: string,
    text: string,
    extra: { fields?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(text, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.status = status;
    this.code = code;
    this.fields = extra.fields ?? {};
    this.headers = extra.headers ?? {};
  }
}

/**
 * The error that says what a refusal of a pure part says; a 503 gets `Retry-After`.
 * @param headers further headers of the answer, such as `ETag` of a refused review action
 */
export function fromRefusal(refusal: Refusal, headers: Record<string, string> = {}): HttpError {
  const retry: Record<string, string> =
    refusal.status === 503 ? { 'Retry-After': String(RETRY_AFTER_SECONDS) } : {};
  return new HttpError(refusal.status, refusal.code, refusal.error, {
    ...(refusal.fields ? { fields: refusal.fields } : {}),
    headers: { ...retry, ...headers },
  });
}

/** Answers with the one error shape `{error, code, ...fields}` (`contract/plan-review.md` §0). */
export function sendError(res: ServerResponse, error: HttpError): void {
  sendJson(res, error.status, { ...error.fields, error: error.message, code: error.code }, error.headers);
}

/**
 * Answers whatever a route threw: an {@link HttpError} as it is, a fault of Redis with 503, a fault of the
 * request with 4xx; stored data that cannot be read, and anything else, is logged under an id and answered 500
 * without internals.
 */
export function answerError(log: Logger, error: unknown, req: IncomingMessage, res: ServerResponse): void {
  const request_id = requestIdOf(req);
  const known = toHttpError(error);
  if (known) {
    if (known.status >= 500)
      log.warn({ err: describe(error), request_id, code: known.code }, 'a part failed');
    answer(res, known);
    return;
  }
  const error_id = randomUUID();
  if (isUnreadable(error)) {
    log.error({ err: describe(error), error_id, request_id, keys: keysOf(error) }, 'stored state unreadable');
    const text = 'Stored state cannot be read';
    answer(res, new HttpError(500, 'unreadable_state', text, { fields: { error_id } }));
    return;
  }
  log.error({ err: describe(error), error_id, request_id, keys: keysOf(error) }, 'request failed');
  answer(res, new HttpError(500, 'internal', 'Internal server error', { fields: { error_id } }));
}

/** {@link answerError} as the last middleware of an Express app. */
export function errorHandler(log: Logger): ErrorMiddleware {
  // Express knows an error middleware by its four parameters.
  return (error, req, res, _next) => answerError(log, error, req, res);
}

/** Answers 404 for a route that does not exist. */
export function notFound(_req: IncomingMessage, res: ServerResponse): void {
  sendError(res, new HttpError(404, 'not_found', 'Not found'));
}

/**
 * Answers 405 for a route that exists under other methods (RFC 9110 §15.5.6).
 * @param methods the methods that the route has; HEAD comes with GET
 */
export function methodNotAllowed(...methods: string[]): (req: IncomingMessage, res: ServerResponse) => void {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return (_req, res) =>
    sendError(
      res,
      new HttpError(405, 'method_not_allowed', 'Method not allowed', { headers: { Allow: allow } }),
    );
}

function answer(res: ServerResponse, error: HttpError): void {
  // Half an answer cannot be taken back; a broken connection tells the client that it is not whole.
  if (res.headersSent) res.destroy();
  else sendError(res, error);
}

function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (isRedisUnavailable(error)) return fromRefusal(STORE_UNAVAILABLE);
  return fromLibraryError(error);
}

/** What Express and body-parser throw for a bad request: errors that carry `status` 4xx. */
function fromLibraryError(error: unknown): HttpError | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const type = 'type' in error ? error.type : undefined;
  if (error.status === 413) return new HttpError(413, 'body_too_large', 'Request body too large');
  if (error.status === 415) return new HttpError(415, 'unsupported_media_type', 'Unsupported media type');
  if (error.status !== 400) return undefined;
  return typeof type === 'string'
    ? new HttpError(400, 'invalid_body', 'Invalid request body')
    : new HttpError(400, 'invalid_url', 'Invalid URL');
}

/** Only what names the fault: further properties of an error may hold what a user sent. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error ? error.code : undefined;
  const { name: type, message, stack, cause } = error;
  return {
    type,
    message,
    stack,
    ...(code ? { code } : {}),
    ...(cause instanceof Error ? { cause: describe(cause) } : {}),
  };
}
