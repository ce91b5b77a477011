import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findPython } from '../src/install/python.ts';
import { pythonEnvironment } from '../src/install/python-environment.ts';
import { findRedis } from '../src/install/redis.ts';
import { findTemporal } from '../src/install/temporal.ts';

/** A virtual environment unpacks pip, which takes its time on a small machine. */
const SLOW_MS = 300_000;
const root = mkdtempSync(join(tmpdir(), 'plangate-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folder: string;
let environment: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'));
  mkdirSync(join(folder, 'bin'));
  environment = { PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache') };
});

test('Temporal on PATH comes before the one in the cache', async () => {
  const cached = program('cache/plangate/bin', 'temporal', 'exit 0');
  expect(await findTemporal({ environment })).toBe(cached);
  const onPath = program('bin', 'temporal', 'exit 0');
  expect(await findTemporal({ environment })).toBe(onPath);
});

test('Temporal is downloaded once where there is none', async () => {
  program('archive', 'temporal', 'echo temporal version 1');
  const archive = join(folder, 'temporal.tar.gz');
  spawnSync('tar', ['-czf', archive, '-C', join(folder, 'archive'), 'temporal']);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(readFileSync(archive));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const downloadUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const first = await findTemporal({ environment, downloadUrl });
  expect(first).toBe(join(folder, 'cache/plangate/bin/temporal'));
  expect(spawnSync(first, { encoding: 'utf8' }).stdout).toBe('temporal version 1\n');
  expect(await findTemporal({ environment, downloadUrl })).toBe(first);
  expect(asked).toEqual([expect.stringMatching(/^\/v1\.5\.1\?platform=(linux|darwin)&arch=(amd64|arm64)$/)]);
  server.close();
});

test('without a network Temporal is built with Go', async () => {
  program(
    'bin',
    'go',
    'test "$1 $2" = "install github.com/temporalio/cli/cmd/temporal@v1.5.1" || exit 1\n' +
      'printf "#!/bin/sh\\nexit 0\\n" > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"',
  );
  const said: string[] = [];
  const report = (line: string) => void said.push(line);
  const found = await findTemporal({ environment, report, downloadUrl: 'http://127.0.0.1:9' });
  expect(found).toBe(join(folder, 'cache/plangate/bin/temporal'));
  expect(said.join('\n')).toMatch(/downloading[\s\S]*building/);
});

test('without a network and without Go it says what to do', async () => {
  await expect(findTemporal({ environment, downloadUrl: 'http://127.0.0.1:9' })).rejects.toThrow(
    /go is not on PATH[\s\S]*set TEMPORAL_ADDRESS/,
  );
});

test('a Redis that is too old is refused with its version', async () => {
  program('bin', 'redis-server', 'echo "Redis server v=6.2.14 sha=00000000:0"');
  await expect(findRedis({ environment })).rejects.toThrow(/Redis 6\.2\.14; Plangate needs Redis 7/);
});

test('without Redis and without a package manager it says what to do', async () => {
  await expect(findRedis({ environment })).rejects.toThrow(/not on PATH[\s\S]*set REDIS_URL/);
});

test('Redis is installed with the package manager that is there', async () => {
  const target = join(folder, 'bin/redis-server');
  program(
    'bin',
    'brew',
    `printf '#!/bin/sh\\necho Redis server v=7.4.1\\n' > ${target}; /bin/chmod +x ${target}`,
  );
  expect(await findRedis({ environment })).toBe(target);
});

test('a Python that is too old is refused with its version', async () => {
  program('bin', 'python3', 'echo "it is Python 3.8"');
  await expect(findPython({ environment })).rejects.toThrow(
    /bin\/python3: it is Python 3\.8\.[\s\S]*Install Python 3\.9/,
  );
});

test('without Python and without a package manager it says what to do', async () => {
  await expect(findPython({ environment })).rejects.toThrow(/not on PATH[\s\S]*python3-venv/);
});

test('a Python without virtual environments is completed with the package manager that is there', async () => {
  const target = program('bin', 'python3', 'echo "its module ensurepip is missing"');
  program('bin', 'brew', `printf '#!/bin/sh\nexit 0\n' > ${target}`);
  expect(await findPython({ environment })).toBe(target);
});

test('the Python of this machine is taken as it is', async () => {
  expect(await findPython()).toMatch(/python3$/);
});

test(
  'a virtual environment is made once for the same requirements',
  async () => {
    const python = await findPython();
    const requirements = join(folder, 'requirements.txt');
    writeFileSync(requirements, '# none\n');

    const first = await pythonEnvironment(python, requirements, { environment });
    const said = spawnSync(first, ['-c', 'import sys; print(sys.prefix != sys.base_prefix)'], {
      encoding: 'utf8',
    });
    expect(said.stdout).toBe('True\n');
    expect(await pythonEnvironment(python, requirements, { environment })).toBe(first);
  },
  SLOW_MS,
);

test(
  'packages that cannot be installed are told, and nothing of it stays',
  async () => {
    const requirements = join(folder, 'requirements.txt');
    writeFileSync(requirements, '--no-index\nno-such-package==1\n');
    await expect(pythonEnvironment(await findPython(), requirements, { environment })).rejects.toThrow(
      /could not be installed[\s\S]*no-such-package[\s\S]*Check that pip reaches its registry/,
    );
    expect(readdirSync(join(folder, 'cache/plangate/python'))).toEqual([]);
  },
  SLOW_MS,
);

function program(under: string, name: string, script: string): string {
  mkdirSync(join(folder, under), { recursive: true });
  const path = join(folder, under, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
