import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROJECT_FOLDER } from '@plangate/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'plangate-test-'));
const entry = join(folder, 'entry.ts');
const olderNode = ['/usr/bin/node', '/usr/local/bin/node'].find(isOlder);

beforeAll(() => {
  cpSync(join(PROJECT_FOLDER, 'bootstrap.mjs'), join(folder, 'bootstrap.mjs'));
  const show = 'JSON.stringify({ version: process.version, args })';
  writeFileSync(
    entry,
    `const args: string[] = process.argv.slice(2);\nconsole.log(${show});\nprocess.exitCode = 7;\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(!olderNode)(
  'an older Node runs the entry under Node 24, with its arguments and exit code',
  () => {
    const { status, stdout } = bootstrap(olderNode!, [entry, 'one', 'two words']);
    expect(status).toBe(7);
    const { version, args } = JSON.parse(stdout) as { version: string; args: string[] };
    expect(Number(/^v(\d+)/.exec(version)![1])).toBeGreaterThanOrEqual(24);
    expect(args).toEqual(['one', 'two words']);
  },
);

test('a signal that ends the entry ends the bootstrap alike', () => {
  const killed = join(folder, 'killed.ts');
  writeFileSync(killed, "process.kill(process.pid, 'SIGTERM');\nsetTimeout(() => undefined, 10_000);\n");
  expect(bootstrap(process.execPath, [killed])).toMatchObject({ status: null, signal: 'SIGTERM' });
});

test.skipIf(!olderNode)('without Node 24 and without npx it says what to do', () => {
  const bin = join(folder, 'only-old');
  mkdirSync(bin);
  cpSync(olderNode!, join(bin, 'node'));
  const { status, stderr } = bootstrap(join(bin, 'node'), [entry], { PATH: bin, XDG_CACHE_HOME: bin });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /needs Node 24 and npx could not get it[\s\S]*Install Node 24 from https:\/\/nodejs\.org/,
  );
});

test.each([
  ['nothing is installed', undefined, true],
  ['another version is installed', { version: '1.0.0', integrity: 'a' }, true],
  ['a package is missing', null, true],
  ['what the lock file names is installed', { version: '1.0.1', integrity: 'a' }, false],
])('where %s, npm ci runs: %o', (_name, installed, expected) => {
  const project = mkdtempSync(join(folder, 'project-'));
  cpSync(join(PROJECT_FOLDER, 'bootstrap.mjs'), join(project, 'bootstrap.mjs'));
  const path = 'node_modules/ioredis';
  const other = { 'node_modules/for-windows': { version: '1.0.0', optional: true } };
  const wanted = { '': {}, [path]: { version: '1.0.1', integrity: 'a' }, ...other };
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: wanted }));
  if (installed !== undefined) {
    mkdirSync(join(project, 'node_modules'));
    const packages = installed ? { [path]: installed } : {};
    writeFileSync(join(project, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  }
  const bin = join(project, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$@" > "${project}/npm-was-called"\n`);
  chmodSync(join(bin, 'npm'), 0o755);

  // A PATH where this npm comes before the one beside Node.
  const node = join(bin, 'node');
  writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" "$@"\n`);
  chmodSync(node, 0o755);
  const result = spawnSync(process.execPath, [join(project, 'bootstrap.mjs'), entry], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
  });

  const called = join(project, 'npm-was-called');
  expect(result.status).toBe(7);
  expect(existsSync(called) && readFileSync(called, 'utf8').startsWith('ci ')).toBe(expected);
});

function bootstrap(node: string, args: string[], env: Record<string, string> = {}) {
  const PATH = `${dirname(node)}:/usr/bin:/bin`;
  return spawnSync(node, [join(folder, 'bootstrap.mjs'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, PATH, ...env },
  });
}

function isOlder(node: string): boolean {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return version.status === 0 && Number(/^v(\d+)/.exec(version.stdout)?.[1]) < 24;
}
