import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startRedis } from '../src/index.ts';
import { isAlive } from './processes.ts';

test('a write that Redis acknowledged is still there after SIGKILL and restart', async () => {
  const redis = await startRedis();
  const first = redis.pid;
  const before = new Redis(redis.url);
  before.on('error', () => undefined);
  await before.set('review', 'v7');
  before.disconnect();

  await redis.kill();
  expect(isAlive(first)).toBe(false);
  await redis.restart();

  const after = new Redis(redis.url);
  expect(await after.get('review')).toBe('v7');
  expect(redis.pid).not.toBe(first);
  after.disconnect();
  await redis.stop();
});

test('stop ends the process and removes the temporary folder', async () => {
  const redis = await startRedis();
  const client = new Redis(redis.url);
  const [, folder] = (await client.config('GET', 'dir')) as [string, string];
  client.disconnect();
  expect(existsSync(folder)).toBe(true);

  await redis.stop();

  expect(isAlive(redis.pid)).toBe(false);
  expect(existsSync(folder)).toBe(false);
  await redis.stop();
});

test('servers started at the same time get ports of their own', async () => {
  const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
  expect(new Set(servers.map((server) => server.port)).size).toBe(3);
  await Promise.all(servers.map((server) => server.stop()));
});

test('a port that is taken is named', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  await expect(startRedis({ port })).rejects.toThrow(`port ${port} for Redis is taken by another program`);
  other.close();
});

test('a server that does not start is reported with its last log lines', async () => {
  await expect(startRedis({ args: ['--maxmemory-policy', 'nonsense'] })).rejects.toThrow(/maxmemory-policy/);
});
