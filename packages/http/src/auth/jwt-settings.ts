import { resolve } from 'node:path';
import type { Verifier } from './authenticate.ts';
import { isUrl, type JwtKeys, type JwtOptions, jwtVerifier } from './jwt.ts';

/** `jwt` of `config/plangate.yaml`, checked already. */
export interface JwtSettings {
  jwks: string;
  secret: string;
  issuer: string;
  audience: string;
  claims: JwtOptions['claims'];
  clock_tolerance_seconds: number;
}

/**
 * The verifier that the settings ask for, to stand beside that of API keys; none where they take no tokens.
 * @param folder what a relative path of a key set begins at
 * @throws {Error} where the file of the keys cannot be read
 */
export function jwtVerifiers(settings: JwtSettings, folder: string): Verifier[] {
  const keys = keysOf(settings, folder);
  if (!keys) return [];
  const { issuer, audience, claims, clock_tolerance_seconds: clockToleranceSeconds } = settings;
  try {
    return [jwtVerifier({ keys, issuer, audience, claims, clockToleranceSeconds })];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`jwt.jwks: the keys in ${settings.jwks} cannot be used: ${reason}`);
  }
}

function keysOf({ jwks, secret }: JwtSettings, folder: string): JwtKeys | null {
  if (secret !== '') return { kind: 'secret', secret };
  if (jwks === '') return null;
  return { kind: 'jwks', source: isUrl(jwks) ? jwks : resolve(folder, jwks) };
}
