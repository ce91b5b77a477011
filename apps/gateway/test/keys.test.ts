import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { apiKeyStore } from '@plangate/http';
import { describe, expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../src/keys.ts', import.meta.url));
const CLOSED_PORT_URL = 'redis://:hunter2@127.0.0.1:1/0';

const { server, redis } = await redisForFile();

function keys(args: string[], url = server.url): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, REDIS_URL: url };
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, out, err });
    });
  });
}

test('a key is made, shown once, listed and revoked', async () => {
  const made = await keys([
    'create',
    '--user',
    'alice',
    '--tenant',
    'acme',
    '--name',
    'my laptop',
    '--expires-in-days',
    '30',
  ]);
  expect(made).toMatchObject({ code: 0, err: '' });
  const [key = '', sentence] = made.out.split('\n');
  expect(sentence).toContain('cannot be shown again');
  const record = await apiKeyStore(redis).lookup(key);
  expect(record).toMatchObject({ owner: { user: 'alice', tenant: 'acme' }, role: 'user', name: 'my laptop' });
  const days = (Date.parse(record?.expires_at ?? '') - Date.parse(record?.created_at ?? '')) / 86_400_000;
  expect(days).toBeCloseTo(30, 3);

  const listed = await keys(['list']);
  expect(listed.out).toMatch(/^ID +USER +TENANT +ROLE +CREATED +EXPIRES +NAME\n/);
  expect(listed.out).toContain('my laptop');
  expect(listed.out).not.toContain(key);

  const id = record?.id ?? '';
  expect(await keys(['revoke', id])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`Revoked ${id}`),
  });
  expect(await apiKeyStore(redis).lookup(key)).toBeNull();
  expect(await keys(['revoke', id])).toMatchObject({
    code: 1,
    err: expect.stringContaining(`There is no key ${id}`),
  });
  expect((await keys(['list'])).out).toBe('There are no keys.\n');
});

test('--json prints what was done as JSON', async () => {
  const made = JSON.parse((await keys(['create', '--user', 'alice', '--tenant', 'acme', '--json'])).out);
  expect(await apiKeyStore(redis).lookup(made.key)).toEqual(made.record);
  expect(JSON.parse((await keys(['list', '--json'])).out)).toEqual([made.record]);
  const { id } = made.record;
  expect(await keys(['revoke', id, '--json'])).toEqual({
    code: 0,
    out: `${JSON.stringify({ id, revoked: true })}\n`,
    err: '',
  });
  expect(await keys(['revoke', id, '--json'])).toMatchObject({
    code: 1,
    out: `${JSON.stringify({ id, revoked: false })}\n`,
  });
});

describe('what cannot be done says what to do', () => {
  test.each([
    [['create', '--user', 'alice'], 'create needs --user and --tenant.'],
    [['create', '--user', 'a b', '--tenant', 't'], '--user must have 1 to 128 visible characters'],
    [['create', '--user', 'u', '--tenant', ''], '--tenant must have 1 to 128 visible characters'],
    [['create', '--user', 'u', '--tenant', 't', '--name', 'a\u001b[2J'], '--name must have'],
    [['create', '--user', 'u', '--tenant', 't', '--expires-in-days', '0'], '--expires-in-days must be'],
    [['create', '--user', 'u', '--tenant', 't', '--expires-in-days', '1.5'], '--expires-in-days must be'],
    [['create', '--user', 'u', '--tenant', 't', '--admin'], "Unknown option '--admin'"],
    [['revoke'], 'revoke needs the ID'],
    [['list', 'x'], 'Nothing to do'],
    [['destroy'], 'Nothing to do'],
    [[], 'Nothing to do'],
  ])('%j', async (args, reason) => {
    const { code, out, err } = await keys(args, CLOSED_PORT_URL);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(reason);
    expect(err).toContain('Usage:');
  });

  test('an unreachable Redis names REDIS_URL and not its password', async () => {
    const { code, err } = await keys(['list'], CLOSED_PORT_URL);
    expect(code).toBe(69);
    expect(err).toContain('Redis at 127.0.0.1:1 cannot be used');
    expect(err).toContain('REDIS_URL');
    expect(err).not.toContain('hunter2');
  });

  test('a REDIS_URL that is no address is named', async () => {
    expect(await keys(['list'], 'nonsense')).toMatchObject({
      code: 78,
      err: expect.stringContaining('REDIS_URL'),
    });
  });
});
