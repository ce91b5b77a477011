import { afterEach, describe, expect, test } from 'vitest';
import { authenticate, loopbackOnly, principalOf, sendJson, skipAuth } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

describe('the principal while auth is off', () => {
  const USER = '6F9619FF-8B86-D011-B42D-00CF4FC964FF';

  async function ask(headers: Record<string, string | string[]>) {
    site = await serve(authenticate(skipAuth), (req, res) => sendJson(res, 200, principalOf(req)));
    return site.ask('/', { headers });
  }

  test('is the fixed one', async () => {
    expect((await ask({})).json).toEqual({
      owner: { user: '00000000-0000-0000-0000-000000000002', tenant: '00000000-0000-0000-0000-000000000001' },
      role: 'user',
      via: 'skip',
    });
  });

  test('is the one of the UUID headers, the same in either case', async () => {
    const { json } = await ask({ 'X-User-Id': USER, 'X-Tenant-Id': USER.toLowerCase() });
    expect(json.owner).toEqual({ user: USER.toLowerCase(), tenant: USER.toLowerCase() });
  });

  test('does not depend on a credential that is sent along', async () => {
    expect((await ask({ Authorization: 'Basic x', 'X-API-Key': 'x' })).json.via).toBe('skip');
  });

  test.each<[string, string | string[], string]>([
    ['X-User-Id', 'alice', 'invalid_user_id'],
    ['X-User-Id', `${USER} `.repeat(2), 'invalid_user_id'],
    ['X-User-Id', [USER, USER], 'invalid_user_id'],
    ['X-Tenant-Id', `{${USER}}`, 'invalid_tenant_id'],
    ['X-Tenant-Id', '*', 'invalid_tenant_id'],
  ])('%s: %s is refused, not ignored', async (name, value, code) => {
    const answer = await ask({ [name]: value });
    expect([answer.status, answer.json]).toEqual([400, { error: `${name} must be a UUID`, code }]);
  });
});

describe('the guard against web pages', () => {
  async function ask(headers: Record<string, string>, allowed: string[] = []) {
    site = await serve(loopbackOnly(allowed), (_req, res) => sendJson(res, 200, {}));
    const answer = await site.ask('/', { headers: { Host: 'localhost:8080', ...headers } });
    return answer.status === 200 ? 'passed' : [answer.status, answer.json.error, answer.json.code];
  }

  test.each([
    'localhost',
    'localhost:8080',
    'LOCALHOST:1',
    'desk.localhost:3000',
    'localhost.',
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.255.3.4:80',
    '[::1]',
    '[::1]:8080',
  ])('lets the host %s through', async (Host) => {
    expect(await ask({ Host })).toBe('passed');
  });

  test.each([
    'evil.example',
    'localhost.evil.example',
    'evillocalhost',
    '127.0.0.1.evil.example',
    '128.0.0.1',
    '0.0.0.0:8080',
    '10.0.0.1',
    '[::2]:8080',
    'evil.example#localhost',
    'localhost@evil.example',
    'evil.example\\.localhost',
    'localhost:99999',
    'localhost:80:80',
    'a b.localhost',
  ])('refuses the host %j', async (Host) => {
    expect(await ask({ Host })).toEqual([403, 'Host not allowed', 'host_not_allowed']);
  });

  test.each(['GET / HTTP/1.0\r\n\r\n', 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'])(
    'refuses a request that names no host: %j',
    async (bytes) => {
      site = await serve(loopbackOnly());
      expect(await site.raw(bytes)).toMatch(/^HTTP\/1\.1 403 /);
    },
  );

  test.each([
    'http://localhost:5173',
    'https://localhost',
    'http://app.localhost',
    'http://127.0.0.1:8080',
    'http://[::1]:3000',
    'tauri://localhost',
    'http://tauri.localhost',
  ])('lets a page of %s through', async (Origin) => {
    expect(await ask({ Origin })).toBe('passed');
  });

  test.each([
    'null',
    '',
    'https://evil.example',
    'http://localhost.evil.example',
    'https://evil.example:8080',
    'http://localhost@evil.example',
    'http://evil.example/localhost',
    'http://localhost http://evil.example',
    'file://localhost',
    'chrome-extension://localhost',
    'tauri://evil.example',
    'localhost',
    'http://',
  ])('refuses a page of %j', async (Origin) => {
    expect(await ask({ Origin })).toEqual([403, 'Origin not allowed', 'origin_not_allowed']);
  });

  test('lets a configured origin and its host through, and nothing near it', async () => {
    const allowed = ['https://desk.example.org'];
    expect(await ask({ Origin: 'https://desk.example.org', Host: 'desk.example.org' }, allowed)).toBe(
      'passed',
    );
    await site.close();
    expect(await ask({ Origin: 'http://desk.example.org' }, allowed)).toContain(403);
    await site.close();
    expect(await ask({ Host: 'www.desk.example.org' }, allowed)).toContain(403);
  });

  test('a configured scheme of an app stands for its own pages, never for sandboxed ones', async () => {
    const allowed = ['app://desk'];
    expect(await ask({ Origin: 'app://desk' }, allowed)).toBe('passed');
    for (const Origin of ['null', 'app://desk.evil', 'app://']) {
      await site.close();
      expect(await ask({ Origin }, allowed)).toContain('Origin not allowed');
    }
  });
});
