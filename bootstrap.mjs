// Runs `node bootstrap.mjs <entry.ts> [args]` under Node 24 with the dependencies installed. Plain JavaScript
// that Node 18 can read, because it runs before either is there.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const WANTED = 24;
const root = dirname(fileURLToPath(import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'plangate');

const [entry, ...args] = process.argv.slice(2);
if (!entry) fail('usage: node bootstrap.mjs <entry.ts> [arguments]');

const node = isRightVersion(process.version) ? process.execPath : findNode();
const env = withPath(dirname(node), process.env.PATH, dirname(process.execPath));
if (!dependenciesAreCurrent()) installDependencies();
run();

/** Starts the entry and becomes one with it: same streams, same signals, same end. */
function run() {
  // The open channel tells the child when this process is gone, even by SIGKILL.
  const child = spawn(node, [resolve(root, entry), ...args], {
    cwd: root,
    env,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const forward = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  child.on('error', (error) => fail(`Node ${WANTED} could not be started from ${node}: ${error.message}`));
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
}

/** The path of Node 24: on PATH, as found last time, or by way of npx. */
function findNode() {
  const file = join(cache, 'node-24');
  for (const candidate of ['node', 'node24', readText(file)]) {
    const path = candidate && pathOfRightNode(candidate);
    if (path) return path;
  }
  say(`this is Node ${process.versions.node}; fetching Node ${WANTED} with npx (once, about 50 MB) ...`);
  const found = spawnSync(
    'npx',
    ['--yes', `--package=node@${WANTED}`, '--call', 'node --print process.execPath'],
    {
      cwd: root,
      env: withPath(process.env.PATH, dirname(process.execPath)),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const path = found.status === 0 && pathOfRightNode(found.stdout.trim().split('\n').pop());
  if (!path) {
    const reason = found.error ? found.error.message : 'see above';
    fail(
      `Plangate needs Node ${WANTED} and npx could not get it (${reason}).\n` +
        `Install Node ${WANTED} from https://nodejs.org, or check that npm reaches its registry, and try again.`,
    );
  }
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(file, `${path}\n`);
  } catch {
    say(`the path of Node ${WANTED} could not be kept in ${file}; npx is asked again next time`);
  }
  return path;
}

/** The real path of `command` where it runs and is Node 24 or later. */
function pathOfRightNode(command) {
  const answer = spawnSync(command, ['--print', 'process.version + " " + process.execPath'], {
    encoding: 'utf8',
  });
  if (answer.status !== 0) return undefined;
  const [version, path] = answer.stdout.trim().split(/ (.*)/);
  return isRightVersion(version) ? path : undefined;
}

/**
 * True where what is installed is what the lock file asks for. Contents are compared, as a checkout changes
 * the times of files; optional packages of other systems may be missing.
 */
function dependenciesAreCurrent() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(join(root, 'node_modules/.package-lock.json'));
  if (!wanted) return true;
  if (!installed) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const there = installed[path];
    if (!there) return entry.optional === true;
    return there.version === entry.version && there.integrity === entry.integrity;
  });
}

function installDependencies() {
  say('installing the dependencies (npm ci) ...');
  const since = Date.now();
  const quiet = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = spawnSync('npm', quiet, { cwd: root, env, stdio: ['ignore', 2, 2] });
  if (installed.status !== 0) {
    const reason = installed.error ? installed.error.message : 'see above';
    fail(
      `npm ci failed (${reason}).\n` +
        'Check that npm is installed and reaches its registry (npm ping), then try again.',
    );
  }
  say(`dependencies installed in ${Math.round((Date.now() - since) / 1000)} s`);
}

/** The environment with this PATH; npm and npx are also found beside the Node that runs this file. */
function withPath(...folders) {
  return { ...process.env, PATH: folders.filter(Boolean).join(delimiter) };
}

function isRightVersion(version) {
  return Number(/^v(\d+)/.exec(version)?.[1]) >= WANTED;
}

function readPackages(file) {
  try {
    return JSON.parse(readText(file) ?? '').packages;
  } catch {
    return undefined;
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function say(text) {
  process.stderr.write(`plangate: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
