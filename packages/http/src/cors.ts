import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from './middleware.ts';
import { originOf } from './origin.ts';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const ALLOW_HEADERS = [
  'Content-Type',
  'Authorization',
  'X-API-Key',
  'X-User-Id',
  'X-Tenant-Id',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Cache-Control',
  'traceparent',
  'tracestate',
].join(', ');
/** Names one by one: the wildcard of the Fetch standard stands for all headers, never for a prefix. */
const EXPOSE_HEADERS = [
  'ETag',
  'X-Workflow-ID',
  'X-Session-ID',
  'X-Request-ID',
  'Retry-After',
  'X-RateLimit-Limit-Minute',
  'X-RateLimit-Remaining-Minute',
  'X-RateLimit-Reset',
  'X-Idempotency-Cached',
  'Link',
].join(', ');
const MAX_AGE_SECONDS = '600';

export interface CorsOptions {
  /** Origins whose pages may read answers, such as `https://desk.example.org`; `'*'` (default): all, without cookies. */
  origins?: '*' | readonly string[];
  /** Further headers of answers that pages may read. */
  expose?: readonly string[];
}

/**
 * Cross-origin headers on every answer, and the whole answer of a preflight, which carries no credentials and
 * so comes before auth (`contract/plan-review.md` §0; Fetch standard, CORS protocol).
 */
export function cors(options: CorsOptions = {}): Middleware {
  const allowed = allowedOrigins(options.origins ?? '*');
  const exposed = [EXPOSE_HEADERS, ...(options.expose ?? [])].join(', ');
  return (req, res, next) => {
    const origin = allowOrigin(req, res, allowed);
    if (!isPreflight(req)) {
      if (origin) res.setHeader('Access-Control-Expose-Headers', exposed);
      next();
      return;
    }
    res.appendHeader('Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers');
    if (origin) {
      res.setHeader('Access-Control-Allow-Methods', METHODS);
      res.setHeader('Access-Control-Allow-Headers', ALLOW_HEADERS);
      res.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
    }
    res.statusCode = 204;
    res.end();
  };
}

/** A plain OPTIONS request is none. */
function isPreflight(req: IncomingMessage): boolean {
  return (
    req.method === 'OPTIONS' &&
    req.headers.origin !== undefined &&
    req.headers['access-control-request-method'] !== undefined
  );
}

/** Says whether the page may read the answer; returns the header's value, undefined for a strange origin. */
function allowOrigin(
  req: IncomingMessage,
  res: ServerResponse,
  allowed: '*' | ReadonlySet<string>,
): string | undefined {
  if (allowed !== '*') res.appendHeader('Vary', 'Origin');
  const origin = allowed === '*' ? '*' : req.headers.origin;
  if (origin === undefined || (allowed !== '*' && !allowed.has(origin))) return undefined;
  res.setHeader('Access-Control-Allow-Origin', origin);
  return origin;
}

function allowedOrigins(origins: '*' | readonly string[]): '*' | ReadonlySet<string> {
  if (origins === '*' || origins.includes('*')) return '*';
  return new Set(origins.map(originOf));
}
