import type { IncomingMessage } from 'node:http';
import { HttpError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import type { Middleware } from '../middleware.ts';
import { originOf } from '../origin.ts';
import type { Authenticator } from './authenticate.ts';

/** The user of a request when auth is off and `X-User-Id` names none. */
export const SKIP_AUTH_USER = '00000000-0000-0000-0000-000000000002';
/** The tenant of a request when auth is off and `X-Tenant-Id` names none. */
export const SKIP_AUTH_TENANT = '00000000-0000-0000-0000-000000000001';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{0,5})?$/i;

/**
 * Auth switched off (`GATEWAY_SKIP_AUTH=1`): a fixed user and tenant, or those of the UUID headers `X-User-Id`
 * and `X-Tenant-Id`. Throws {@link HttpError} 400 for a header that is no UUID: work must not land with
 * somebody else.
 */
export const skipAuth: Authenticator = async (req) => ({
  owner: {
    user: uuidHeader(req, 'X-User-Id', SKIP_AUTH_USER, 'invalid_user_id'),
    tenant: uuidHeader(req, 'X-Tenant-Id', SKIP_AUTH_TENANT, 'invalid_tenant_id'),
  },
  role: 'user',
  via: 'skip',
});

/**
 * While auth is off, a web page must not act through its visitor's browser: a request is 403 when its `Origin`
 * or its `Host` (DNS rebinding) is neither a loopback host nor configured (`contract/plan-review.md` §0).
 * @param allowedOrigins further origins; their hosts are taken as `Host` too, on any port
 */
export function loopbackOnly(allowedOrigins: readonly string[] = []): Middleware {
  const origins = new Set(allowedOrigins.map(originOf));
  const hosts = new Set(allowedOrigins.map((origin) => new URL(origin).hostname));

  return (req, _res, next) => {
    const { origin, host } = req.headers;
    if (origin !== undefined && !origins.has(origin) && !isLoopbackOrigin(origin)) {
      next(new HttpError(403, 'origin_not_allowed', 'Origin not allowed'));
      return;
    }
    const name = hostName(host ?? '');
    if (name === undefined || !(hosts.has(name) || isLoopback(name))) {
      next(new HttpError(403, 'host_not_allowed', 'Host not allowed'));
      return;
    }
    next();
  };
}

/** Of a local server, or of an app built with Tauri, whose scheme no web page can have. */
function isLoopbackOrigin(origin: string): boolean {
  const [, host] = /^(?:https?|tauri):\/\/(.+)$/i.exec(origin) ?? [];
  const name = host === undefined ? undefined : hostName(host);
  return name !== undefined && isLoopback(name);
}

/** The name of `host[:port]` in its one spelling, undefined for anything else. */
function hostName(host: string): string | undefined {
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname.replace(/\.$/, '');
}

function uuidHeader(req: IncomingMessage, name: string, otherwise: string, code: string): string {
  const value = req.headers[name.toLowerCase()];
  if (value === undefined || value === '') return otherwise;
  if (typeof value === 'string' && UUID.test(value)) return value.toLowerCase();
  throw new HttpError(400, code, `${name} must be a UUID`);
}
