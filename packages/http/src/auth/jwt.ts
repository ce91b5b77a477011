import { readFileSync } from 'node:fs';
import { Owner } from '@plangate/contracts';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { HttpError } from '../errors.ts';
import type { Verifier } from './authenticate.ts';
import type { Principal } from './principal.ts';

/** What tokens are signed with: keys of a JWK set (file or URL), or one shared secret. */
export type JwtKeys = { kind: 'jwks'; source: string } | { kind: 'secret'; secret: string };

export interface JwtOptions {
  keys: JwtKeys;
  /** Must be the token's `iss`. */
  issuer: string;
  /** Must be among the token's `aud`. */
  audience: string;
  /** Names of the claims that say who it is. */
  claims: { user: string; tenant: string; role: string };
  /** How far clocks may differ. Default: 5 s. */
  clockToleranceSeconds?: number;
  now?: () => Date;
  /** Longest wait for a key set that is a URL, in milliseconds. */
  timeoutMs?: number;
}

/** Never both kinds: a public key must not be taken for a secret (RFC 8725 §3.1). */
const SYMMETRIC = ['HS256', 'HS384', 'HS512'];
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Compact form of a signed token (RFC 7515 §3.1). */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** User and tenant stand in logs and audits: visible characters without spaces, as those of API keys. */
const ACCOUNT = /^[^\s\p{C}]{1,128}$/u;
const DEFAULT_ROLE = 'user';
const TIMEOUT_MS = 1_500;

/**
 * Checks JSON Web Tokens: signature, issuer, audience, expiry, which must be there, and the claims of user and tenant
 * (`contract/plan-review.md` §0). Anything else is not a credential. A key set in a file is read now, one at a URL
 * with the first token and again for a key that it did not have; while it cannot be reached {@link HttpError} 503.
 * @throws {Error} where the file of the keys cannot be read
 */
export function jwtVerifier(options: JwtOptions): Verifier {
  const { keys, issuer, audience, claims, clockToleranceSeconds = 5, now = () => new Date() } = options;
  const key = keyOf(keys, options.timeoutMs ?? TIMEOUT_MS);
  const algorithms = keys.kind === 'secret' ? SYMMETRIC : ASYMMETRIC;

  return async (token) => {
    if (!COMPACT.test(token)) return null;
    try {
      const { payload } = await jwtVerify(token, key, {
        issuer,
        audience,
        algorithms,
        requiredClaims: ['exp'],
        clockTolerance: clockToleranceSeconds,
        currentDate: now(),
      });
      return principalOf(payload, claims);
    } catch (error) {
      if (isFaultOfToken(error)) return null;
      throw new HttpError(503, 'jwks_unavailable', 'Keys for tokens unavailable', {
        headers: { 'Retry-After': '2' },
        cause: error,
      });
    }
  };
}

function keyOf(keys: JwtKeys, timeoutDuration: number): JWTVerifyGetKey {
  if (keys.kind === 'secret') {
    const secret = new TextEncoder().encode(keys.secret);
    return async () => secret;
  }
  if (isUrl(keys.source)) return createRemoteJWKSet(new URL(keys.source), { timeoutDuration });
  return createLocalJWKSet(JSON.parse(readFileSync(keys.source, 'utf8')) as JSONWebKeySet);
}

/** True where a key set is fetched, false where it is a file. */
export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** Null where the claims do not name a user and a tenant: work must not land with somebody else. */
function principalOf(payload: JWTPayload, claims: JwtOptions['claims']): Principal | null {
  const owner = Owner.safeParse({ user: payload[claims.user], tenant: payload[claims.tenant] });
  if (!owner.success || !ACCOUNT.test(owner.data.user) || !ACCOUNT.test(owner.data.tenant)) return null;
  const role = payload[claims.role] ?? DEFAULT_ROLE;
  return typeof role === 'string' ? { owner: owner.data, role, via: 'jwt' } : null;
}

/** Everything that the token is to blame for; what is left is a key set that cannot be had. */
function isFaultOfToken(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  );
}
