import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAndPack, oldestNode, PROJECT, run } from '../../sdk/test/packing.ts';
import { runCommand } from './run-command.ts';

let work: string;
let installed: string;
beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'plangate-command-packed-')));
  const modules = join(work, 'node_modules');
  for (const [workspace, name] of [
    ['packages/sdk', '@plangate/sdk'],
    ['packages/cli', 'plangate'],
  ] as const) {
    const own = join(work, name);
    mkdirSync(own, { recursive: true });
    const packed = await buildAndPack(workspace, own);
    mkdirSync(join(modules, name), { recursive: true });
    await run('tar', ['-xzf', packed, '-C', join(modules, name), '--strip-components=1'], work);
  }
  installed = join(modules, 'plangate');
  linkDependencies(installed, modules);
}, 120_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** What the package says it depends on, from the project's own installation: no network is needed. */
function linkDependencies(folder: string, modules: string): void {
  const { dependencies } = manifestOf(folder);
  const names = [...Object.keys(dependencies), 'eventsource-parser'].filter(
    (name) => !name.startsWith('@plangate/'),
  );
  for (const name of names) {
    const found = createRequire(join(PROJECT, 'packages/cli/package.json')).resolve.paths(name) ?? [];
    const from = found.map((path) => join(path, name)).find((path) => exists(join(path, 'package.json')));
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(from ?? '', join(modules, name));
  }
}

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function exists(file: string): boolean {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}

test('the packed command has no fault that publint knows and needs nothing private', async () => {
  const { messages, pkg } = await publint({ pkgDir: join(work, 'plangate/built'), strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  const manifest = manifestOf(installed);
  expect(Object.keys(manifest.dependencies).sort()).toEqual([
    '@clack/prompts',
    '@plangate/sdk',
    'commander',
    'ioredis',
  ]);
  expect(manifest).not.toHaveProperty('devDependencies');
});

test.each([
  ['this Node', async () => process.execPath],
  ['the oldest Node that it names', () => oldestNode(installed)],
])(
  'the packed command runs in %s: help, version, an address where nobody is, keys',
  async (_, find) => {
    const options = { command: join(installed, 'main.js'), node: await find() };
    const help = await runCommand(['review', '--help'], options);
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('approve the plan') });
    const { version } = manifestOf(installed);
    expect((await runCommand(['--version'], options)).out).toBe(`${version}\n`);
    const away = await runCommand(['tasks', '--url', 'http://127.0.0.1:2'], options);
    expect(away).toMatchObject({ code: 7, err: expect.stringContaining('npm start') });
    const keys = await runCommand(['keys', 'list', '--redis', 'redis://127.0.0.1:1/0'], options);
    expect(keys).toMatchObject({ code: 7, err: expect.stringContaining('Redis at 127.0.0.1:1') });
  },
  120_000,
);
