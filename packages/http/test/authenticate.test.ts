import { afterEach, describe, expect, test } from 'vitest';
import {
  authenticate,
  byCredential,
  type CredentialOptions,
  type Principal,
  principalOf,
  sendJson,
  type Verifier,
} from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

const GOOD: Principal = { owner: { user: 'u', tenant: 't' }, role: 'user', via: 'api-key' };
const only =
  (key: string): Verifier =>
  async (credential) =>
    credential === key ? GOOD : null;

async function ask(path: string, headers: Record<string, string>, options: CredentialOptions = {}) {
  site = await serve(authenticate(byCredential(only('good')), options), (req, res) =>
    sendJson(res, 200, principalOf(req)),
  );
  return site.ask(path, { headers });
}

describe('a credential is taken from', () => {
  test.each<[string, Record<string, string>]>([
    ['X-API-Key', { 'X-API-Key': 'good' }],
    ['Authorization: Bearer', { Authorization: 'Bearer good' }],
    ['the scheme in lower case', { Authorization: 'bearer good' }],
    ['the scheme in upper case', { Authorization: 'BEARER   good' }],
    ['Authorization where X-API-Key is empty', { 'X-API-Key': '', Authorization: 'Bearer good' }],
  ])('%s', async (_name, headers) => {
    const answer = await ask('/', headers);
    expect([answer.status, answer.json]).toEqual([200, GOOD]);
  });

  test.each(['/?api_key=good', '/?token=good', '/?workflow_id=w&token=good', '/?api_key=good&token=bad'])(
    'the query %s where the route allows it',
    async (path) => {
      expect((await ask(path, {}, { fromQuery: true })).status).toBe(200);
    },
  );
});

const CHALLENGE = 'Bearer realm="Plangate API"';

describe('no credential is 401 Authentication required', () => {
  test.each(['/', '/?api_key=good', '/?token=good'])('%s', async (path) => {
    const answer = await ask(path, {});
    expect([answer.status, answer.json]).toEqual([
      401,
      { error: 'Authentication required', code: 'authentication_required' },
    ]);
    expect(answer.headers['www-authenticate']).toBe(CHALLENGE);
  });

  test('an empty one in the query counts as none', async () => {
    expect((await ask('/?api_key=&token=', {}, { fromQuery: true })).json.code).toBe(
      'authentication_required',
    );
  });
});

describe('a wrong credential is 401 Invalid token', () => {
  test.each<[string, Record<string, string>]>([
    ['/', { 'X-API-Key': 'bad' }],
    ['/', { Authorization: 'Bearer bad' }],
    ['/', { Authorization: 'Bearer' }],
    ['/', { Authorization: 'Bearer good more' }],
    ['/', { Authorization: 'Bearergood' }],
    ['/', { Authorization: 'Basic Z29vZA==' }],
    ['/', { Authorization: 'good' }],
    ['/', { 'X-API-Key': 'bad', Authorization: 'Bearer good' }],
    ['/?api_key=good', { 'X-API-Key': 'bad' }],
    ['/?token=bad', {}],
  ])('%s %j', async (path, headers) => {
    const answer = await ask(path, headers, { fromQuery: true });
    expect([answer.status, answer.json]).toEqual([401, { error: 'Invalid token', code: 'invalid_token' }]);
    expect(answer.headers['www-authenticate']).toBe(CHALLENGE);
  });
});

test('several kinds of credential are tried in turn', async () => {
  site = await serve(authenticate(byCredential(only('first'), only('second'))), (req, res) =>
    sendJson(res, 200, principalOf(req)),
  );
  expect((await site.ask('/', { headers: { 'X-API-Key': 'second' } })).status).toBe(200);
  expect((await site.ask('/', { headers: { 'X-API-Key': 'third' } })).status).toBe(401);
});

test('a store that cannot be asked is 503, never 401', async () => {
  const away: Verifier = async () => {
    throw new Error('Connection is closed.');
  };
  site = await serve(authenticate(byCredential(away)));
  const answer = await site.ask('/', { headers: { 'X-API-Key': 'any' } });
  expect([answer.status, answer.json.code]).toEqual([503, 'store_unavailable']);
});

test('a route that was mounted without auth answers 500 instead of acting for nobody', async () => {
  site = await serve((req, res) => sendJson(res, 200, principalOf(req)));
  expect((await site.ask('/')).status).toBe(500);
});
