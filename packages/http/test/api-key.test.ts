import { redisForFile } from '@plangate/devstack/vitest-redis';
import { connectRedis } from '@plangate/redis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { apiKeyStore, authenticate, byCredential, principalOf, sendJson } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

const { server, redis } = await redisForFile({ flush: true });

const OWNER = { user: 'alice', tenant: 'acme' };

describe('API keys', () => {
  test('are pg_ and 43 random characters, and stand for their owner', async () => {
    const keys = apiKeyStore(redis);
    const { key, record } = await keys.create({ owner: OWNER, role: 'admin', name: 'laptop' });
    expect(key).toMatch(/^pg_[A-Za-z0-9_-]{43}$/);
    expect(await keys.lookup(key)).toEqual(record);
    expect(record).toMatchObject({ owner: OWNER, role: 'admin', name: 'laptop' });
    expect(await keys.verify(key)).toEqual({ owner: OWNER, role: 'admin', via: 'api-key' });
  });

  test('are nowhere in the store, only their SHA-256', async () => {
    const { key } = await apiKeyStore(redis).create({ owner: OWNER });
    const dump = JSON.stringify(
      await Promise.all((await redis.keys('*')).map(async (name) => [name, await redis.hgetall(name)])),
    );
    expect(dump).toContain('alice');
    expect(dump).not.toContain(key);
    expect(dump).not.toContain(key.slice(3));
  });

  test('that were never made, or are no keys, are unknown', async () => {
    const keys = apiKeyStore(redis);
    const { key } = await keys.create({ owner: OWNER });
    const other = `${key.slice(0, -2)}${key.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const text of [other, '', 'pg_', `${key}x`, key.slice(0, -1), key.toUpperCase(), `${key}\n`, '*']) {
      expect(await keys.lookup(text)).toBeNull();
    }
  });

  test('end at their expiry', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    const keys = apiKeyStore(redis, () => now);
    const { key } = await keys.create({ owner: OWNER, expiresAt: new Date('2026-01-02T00:00:00Z') });
    now = new Date('2026-01-01T23:59:59.999Z');
    expect(await keys.lookup(key)).not.toBeNull();
    now = new Date('2026-01-02T00:00:00Z');
    expect(await keys.lookup(key)).toBeNull();
    expect(await keys.list()).toHaveLength(1);
  });

  test('end at once when they are revoked, for every process', async () => {
    const { key, record } = await apiKeyStore(redis).create({ owner: OWNER });
    const elsewhere = connectRedis(server.url);
    await vi.waitFor(() => expect(elsewhere.status).toBe('ready'));
    const keys = apiKeyStore(elsewhere);
    expect(await keys.lookup(key)).not.toBeNull();
    expect(await apiKeyStore(redis).revoke(record.id)).toBe(true);
    expect(await keys.lookup(key)).toBeNull();
    expect(await keys.list()).toEqual([]);
    expect(await keys.revoke(record.id)).toBe(false);
    elsewhere.disconnect();
  });

  test('are listed oldest first', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    const keys = apiKeyStore(redis, () => {
      time += 1_000;
      return new Date(time);
    });
    for (const name of ['a', 'b', 'c']) await keys.create({ owner: OWNER, name });
    expect((await keys.list()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  test.each(['user', 'tenant', 'role', 'id', 'sha256'])(
    'whose record lost its %s stand for nobody',
    async (field) => {
      const keys = apiKeyStore(redis);
      const { key } = await keys.create({ owner: OWNER });
      const [name = ''] = await redis.keys('apikey:*');
      expect(await redis.hdel(name, field)).toBe(1);
      expect(await keys.lookup(key)).toBeNull();
    },
  );

  test('whose expiry cannot be read are expired', async () => {
    const keys = apiKeyStore(redis);
    const { key } = await keys.create({ owner: OWNER, expiresAt: new Date(Date.now() + 60_000) });
    const [name = ''] = await redis.keys('apikey:*');
    await redis.hset(name, 'expires_at', 'soon');
    expect(await keys.lookup(key)).toBeNull();
  });

  test('are not made without an owner', async () => {
    await expect(apiKeyStore(redis).create({ owner: { user: '', tenant: 'acme' } })).rejects.toThrow();
    expect(await redis.keys('*')).toEqual([]);
  });
});

describe('a request with a key', () => {
  let site: TestServer;
  afterEach(() => site.close());
  const serveKeys = async () => {
    site = await serve(authenticate(byCredential(apiKeyStore(redis).verify)), (req, res) =>
      sendJson(res, 200, principalOf(req)),
    );
  };

  test('has the owner of the key', async () => {
    const { key } = await apiKeyStore(redis).create({ owner: OWNER });
    await serveKeys();
    const answer = await site.ask('/', {
      headers: { Authorization: `Bearer ${key}`, 'X-User-Id': 'mallory' },
    });
    expect(answer.json).toEqual({ owner: OWNER, role: 'user', via: 'api-key' });
  });

  test('is 503 within 2 s while Redis is dead or hangs, and works again afterwards', async () => {
    const { key } = await apiKeyStore(redis).create({ owner: OWNER });
    await serveKeys();
    const timed = async () => {
      const started = performance.now();
      const { status, headers } = await site.ask('/', { headers: { 'X-API-Key': key } });
      return { status, retry: headers['retry-after'], soon: performance.now() - started < 2_500 };
    };
    const away = { status: 503, retry: '2', soon: true };

    process.kill(server.pid, 'SIGSTOP');
    try {
      expect(await timed()).toEqual(away);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await server.kill();
    expect(await timed()).toEqual(away);
    await server.restart();
    await vi.waitFor(async () => expect((await timed()).status).toBe(200), {
      timeout: 10_000,
      interval: 100,
    });
  });
});
