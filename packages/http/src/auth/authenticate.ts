import type { IncomingMessage } from 'node:http';
import { HttpError } from '../errors.ts';
import { type Middleware, requestTarget } from '../middleware.ts';
import { type Principal, setPrincipal } from './principal.ts';

/** Looks a credential up: its principal, or null where it is not one of this kind, expired or revoked. */
export type Verifier = (credential: string) => Promise<Principal | null>;

/** Who sends this request, by whatever way the settings allow. */
export type Authenticator = (req: IncomingMessage, options?: CredentialOptions) => Promise<Principal>;

export interface CredentialOptions {
  /** Takes the query's `api_key` or `token` too: for event streams, as EventSource sends no headers. */
  fromQuery?: boolean;
}

/** RFC 6750 §2.1; schemes are case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([^\s]+)$/i;
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="Plangate API"' };

/**
 * Auth by credential (`contract/plan-review.md` §0): `X-API-Key`, else `Authorization: Bearer`, else the query
 * where the route allows it. The first one that is sent decides; a wrong one is never made good by another.
 * Throws {@link HttpError} 401; a fault of a verifier passes through, so an unreachable store is not a 401.
 */
export function byCredential(...verifiers: Verifier[]): Authenticator {
  return async (req, options = {}) => {
    const credential = credentialOf(req, options);
    for (const verify of verifiers) {
      const principal = await verify(credential);
      if (principal) return principal;
    }
    throw invalidToken();
  };
}

/** The middleware that lets a request on with its principal, or not at all. */
export function authenticate(authenticator: Authenticator, options: CredentialOptions = {}): Middleware {
  return (req, _res, next) =>
    authenticator(req, options).then((principal) => {
      setPrincipal(req, principal);
      next();
    }, next);
}

function credentialOf(req: IncomingMessage, { fromQuery }: CredentialOptions): string {
  const key = req.headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return key;
  const { authorization } = req.headers;
  if (authorization) return bearerToken(authorization);
  const query = fromQuery ? queryCredential(req) : undefined;
  if (query) return query;
  throw new HttpError(401, 'authentication_required', 'Authentication required', { headers: CHALLENGE });
}

function bearerToken(authorization: string): string {
  const [, token] = BEARER.exec(authorization) ?? [];
  if (!token) throw invalidToken();
  return token;
}

function queryCredential(req: IncomingMessage): string | undefined {
  const target = requestTarget(req);
  const start = target.indexOf('?');
  if (start < 0) return undefined;
  const query = new URLSearchParams(target.slice(start + 1));
  return query.get('api_key') || query.get('token') || undefined;
}

function invalidToken(): HttpError {
  return new HttpError(401, 'invalid_token', 'Invalid token', { headers: CHALLENGE });
}
