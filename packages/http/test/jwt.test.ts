import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authenticate,
  byCredential,
  type JwtOptions,
  jwtVerifier,
  jwtVerifiers,
  principalOf,
  sendJson,
} from '../src/index.ts';
import { serve } from './serve.ts';

const SECRET = 'a secret that has more than thirty-two bytes';
const CLAIMS = { user: 'sub', tenant: 'tenant_id', role: 'role' };
const ISSUER = 'https://login.example.org';
const ADA = { sub: 'ada', tenant_id: 'acme' };
const NOW = new Date('2026-03-01T12:00:00Z');
const SECONDS = NOW.getTime() / 1_000;

interface Pair {
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}
let known: Pair;
let unknown: Pair;
let folder: string;
let jwksFile: string;

beforeAll(async () => {
  known = await generateKeyPair('ES256');
  unknown = await generateKeyPair('ES256');
  folder = mkdtempSync(join(tmpdir(), 'plangate-jwt-'));
  jwksFile = join(folder, 'jwks.json');
  writeFileSync(jwksFile, JSON.stringify({ keys: [await publicJwk(known, 'one')] }));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function publicJwk({ publicKey }: Pair, kid: string) {
  return { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' };
}

interface Signing {
  key?: CryptoKey | Uint8Array;
  alg?: string;
  kid?: string;
}
function sign(
  payload: JWTPayload = {},
  { key = known.privateKey, alg = 'ES256', kid = 'one' }: Signing = {},
) {
  const whole = { ...ADA, iss: ISSUER, aud: 'plangate', exp: SECONDS + 60, ...payload };
  return new SignJWT(whole).setProtectedHeader({ alg, kid }).sign(key);
}
const verifier = (options: Partial<JwtOptions> = {}) =>
  jwtVerifier({
    keys: { kind: 'jwks', source: jwksFile },
    issuer: ISSUER,
    audience: 'plangate',
    claims: CLAIMS,
    now: () => NOW,
    ...options,
  });
const bytes = (text: string) => new TextEncoder().encode(text);

describe('a token', () => {
  test('that is signed with a key of the set says user, tenant and role', async () => {
    expect(await verifier()(await sign({ role: 'admin' }))).toEqual({
      owner: { user: 'ada', tenant: 'acme' },
      role: 'admin',
      via: 'jwt',
    });
    expect((await verifier()(await sign()))?.role).toBe('user');
    expect(await verifier()(await sign({ aud: ['other', 'plangate'] }))).not.toBeNull();
  });

  test('that is signed with the shared secret does too', async () => {
    const withSecret = verifier({ keys: { kind: 'secret', secret: SECRET } });
    expect(await withSecret(await sign({}, { key: bytes(SECRET), alg: 'HS256' }))).toMatchObject({
      owner: { user: 'ada', tenant: 'acme' },
    });
    expect(await withSecret(await sign({}, { key: bytes(`${SECRET}!`), alg: 'HS256' }))).toBeNull();
    expect(await withSecret(await sign())).toBeNull();
  });

  test('may name user and tenant in other claims', async () => {
    const claims = { user: 'email', tenant: 'https://example.org/tenant', role: 'group' };
    const token = await sign({ email: 'ada@example.org', 'https://example.org/tenant': 't1', group: 'ops' });
    expect(await verifier({ claims })(token)).toEqual({
      owner: { user: 'ada@example.org', tenant: 't1' },
      role: 'ops',
      via: 'jwt',
    });
  });

  const wrong: [string, () => Promise<string> | string][] = [
    ['has expired', () => sign({ exp: SECONDS - 6 })],
    ['never expires', () => sign({ exp: undefined })],
    ['is not valid yet', () => sign({ nbf: SECONDS + 60 })],
    ['is from another issuer', () => sign({ iss: 'https://evil.example' })],
    ['names no issuer', () => sign({ iss: undefined })],
    ['is for another audience', () => sign({ aud: 'other' })],
    ['is for nobody', () => sign({ aud: undefined })],
    ['names no user', () => sign({ sub: undefined })],
    ['names no tenant', () => sign({ tenant_id: undefined })],
    ['has an empty tenant', () => sign({ tenant_id: '' })],
    ['has a tenant that is no text', () => sign({ tenant_id: ['acme'] })],
    ['has a user with a line break', () => sign({ sub: 'ada\nroot' })],
    ['has a role that is no text', () => sign({ role: ['admin'] })],
    ['is signed with another key under a known name', () => sign({}, { key: unknown.privateKey })],
    ['is signed with a key of another name', () => sign({}, { key: unknown.privateKey, kid: 'two' })],
    [
      'is not signed',
      () => new UnsecuredJWT({ ...ADA, iss: ISSUER, aud: 'plangate', exp: SECONDS + 60 }).encode(),
    ],
    [
      'takes the public key for a secret',
      async () => sign({}, { key: bytes(JSON.stringify(await exportJWK(known.publicKey))), alg: 'HS256' }),
    ],
    [
      'was changed',
      async () => (await sign()).replace(/\.[^.]+\./, `.${btoa('{"sub":"root"}').replace(/=/g, '')}.`),
    ],
    ['has lost its signature', async () => (await sign()).replace(/\.[^.]+$/, '.')],
    ['is no token', () => 'pg_something'],
    ['has three parts of nonsense', () => 'a.b.c'],
  ];
  test.each(wrong)('that %s is nobody', async (_, token) => {
    expect(await verifier()(await token())).toBeNull();
  });

  test('that has expired within the tolerance of clocks is taken', async () => {
    expect(await verifier()(await sign({ exp: SECONDS - 4 }))).not.toBeNull();
    expect(await verifier({ clockToleranceSeconds: 0 })(await sign({ exp: SECONDS - 4 }))).toBeNull();
  });
});

describe('a key set at a URL', () => {
  let server: Server;
  let url: string;
  let keys: unknown[] = [];
  let status = 200;
  let fetched = 0;
  beforeAll(async () => {
    server = createServer((_req, res) => {
      fetched += 1;
      res.statusCode = status;
      res.end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('is fetched with the first token, once for many', async () => {
    keys = [await publicJwk(known, 'one')];
    fetched = 0;
    const remote = verifier({ keys: { kind: 'jwks', source: url } });
    expect(await remote('not.a.token')).toBeNull();
    const tokens = await Promise.all(Array.from({ length: 10 }, () => sign()));
    for (const principal of await Promise.all(tokens.map((token) => remote(token)))) {
      expect(principal?.owner.user).toBe('ada');
    }
    expect(fetched).toBe(1);
  });

  test('that cannot be had is 503, never 401', async () => {
    status = 500;
    const broken = verifier({ keys: { kind: 'jwks', source: url } });
    await expect(broken(await sign())).rejects.toMatchObject({ status: 503, code: 'jwks_unavailable' });
    const nowhere = verifier({ keys: { kind: 'jwks', source: 'http://127.0.0.1:2/jwks.json' } });
    await expect(nowhere(await sign())).rejects.toMatchObject({ status: 503 });
    status = 200;
    expect(await broken(await sign())).not.toBeNull();
  });

  test('that cannot be had is told in the log with its reason, and not to the client', async () => {
    status = 500;
    const broken = verifier({ keys: { kind: 'jwks', source: url } });
    const site = await serve(authenticate(byCredential(broken)));
    const answer = await site.ask('/', { headers: { Authorization: `Bearer ${await sign()}` } });
    expect(answer.json).toEqual({ error: 'Keys for tokens unavailable', code: 'jwks_unavailable' });
    expect(JSON.stringify(site.lines)).toContain('Expected 200 OK');
    await site.close();
    status = 200;
  });

  test('that does not answer is given up', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const source = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const waiting = verifier({ keys: { kind: 'jwks', source }, timeoutMs: 100 });
    await expect(waiting(await sign())).rejects.toMatchObject({ status: 503 });
    silent.closeAllConnections();
    silent.close();
  });
});

describe('settings', () => {
  const settings = {
    jwks: '',
    secret: '',
    issuer: ISSUER,
    audience: 'plangate',
    claims: CLAIMS,
    clock_tolerance_seconds: 5,
  };
  test('without keys take no tokens; a file of keys is found from the project’s folder', async () => {
    expect(jwtVerifiers(settings, folder)).toEqual([]);
    const [verify] = jwtVerifiers({ ...settings, jwks: 'jwks.json' }, folder);
    expect(await verify?.(await sign({ exp: Math.floor(Date.now() / 1_000) + 60 }))).not.toBeNull();
  });

  test('that name a file without keys stop the start', () => {
    expect(() => jwtVerifiers({ ...settings, jwks: 'missing.json' }, folder)).toThrow(
      /jwt\.jwks: .*missing\.json/,
    );
    writeFileSync(join(folder, 'broken.json'), '{"keys":7}');
    expect(() => jwtVerifiers({ ...settings, jwks: 'broken.json' }, folder)).toThrow(/broken\.json/);
  });
});

test('stands beside API keys: the first that knows the credential says who it is, else 401', async () => {
  const keys = async (credential: string) =>
    credential === 'pg_key'
      ? { owner: { user: 'bob', tenant: 'acme' }, role: 'user', via: 'api-key' as const }
      : null;
  const auth = authenticate(byCredential(keys, verifier()), { fromQuery: true });
  const site = await serve(auth, (req, res) => sendJson(res, 200, principalOf(req)));
  const bearer = (token: string) => site.ask('/', { headers: { Authorization: `Bearer ${token}` } });
  expect((await bearer('pg_key')).json.owner.user).toBe('bob');
  expect((await bearer(await sign())).json).toMatchObject({ owner: { user: 'ada' }, via: 'jwt' });
  expect((await site.ask(`/?token=${await sign()}`)).json.via).toBe('jwt');
  const wrong = await bearer(await sign({ exp: SECONDS - 60 }));
  expect([wrong.status, wrong.json]).toEqual([401, { error: 'Invalid token', code: 'invalid_token' }]);
  expect(wrong.headers['www-authenticate']).toBe('Bearer realm="Plangate API"');
  await site.close();
});
