import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT_FOLDER } from '@plangate/service';
import { run } from '../install/run.ts';
import { type Stack, startStack } from '../stack.ts';
import { stopRequest } from '../stop-request.ts';

/**
 * The product for suites in another language. Prints one JSON line with the addresses and keys of two gateways over
 * one Redis and one Temporal: `open` needs no credentials, `guarded` does. Then takes commands, one per line of
 * standard input, such as `restart open`, each answered by one line, and stops everything when the input ends.
 */

const KEYS = [
  { name: 'ada', user: 'ada', tenant: 'acme' },
  { name: 'busy', user: 'busy', tenant: 'acme' },
  { name: 'hasty', user: 'hasty', tenant: 'acme' },
  { name: 'bob', user: 'bob', tenant: 'acme' },
  { name: 'stranger', user: 'ada', tenant: 'another' },
];

const SETTINGS = `
documents:
  folders:
    - path: apps/orchestrator/test/fixtures/documents
    - path: node_modules
      include: "README*"
sweep:
  interval_seconds: 1
rate_limits:
  minute: 150
  hour: 0
  day: 0
`;

const stop = stopRequest();
const folder = mkdtempSync(join(tmpdir(), 'plangate-python-'));
const stacks: Stack[] = [];
try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  for (const stack of stacks.toReversed()) await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function main(): Promise<number> {
  const settingsFile = join(folder, 'plangate.yaml');
  writeFileSync(settingsFile, SETTINGS);
  const open = await startStack({
    settingsFile,
    temporalAddress: process.env['TEMPORAL_ADDRESS'] || undefined,
    signal: stop,
  });
  stacks.push(open);
  const guarded = await startStack({
    settingsFile,
    redisUrl: open.redis.url,
    temporalAddress: open.temporal.address,
    taskQueue: open.env['TEMPORAL_TASK_QUEUE'],
    llmUrl: open.llmUrl,
    apps: ['gateway'],
    skipAuth: false,
    signal: stop,
  });
  stacks.push(guarded);
  const keys = await Promise.all(KEYS.map(async (key) => [key.name, await makeKey(open, key)]));
  answer({ open: open.gatewayUrl, guarded: guarded.gatewayUrl, keys: Object.fromEntries(keys) });

  const gateways: Record<string, Stack> = { open, guarded };
  for await (const line of createInterface({ input: process.stdin, signal: stop })) {
    const [action, name = ''] = line.split(' ');
    const gateway = gateways[name]?.apps.gateway;
    if (action === 'kill') await gateway?.kill();
    else if (action === 'restart') await gateway?.restart();
    answer(gateway ? 'ok' : `unknown: ${line}`);
  }
  return 0;
}

async function makeKey(stack: Stack, { user, tenant }: { user: string; tenant: string }): Promise<string> {
  const command = join(PROJECT_FOLDER, 'apps', 'gateway', 'src', 'keys.ts');
  const args = [command, 'create', '--user', user, '--tenant', tenant];
  const said = await run(process.execPath, args, { env: { ...process.env, ...stack.env } });
  const [key] = said.split('\n');
  if (!key?.startsWith('pg_')) throw new Error('keys.ts has not answered with a key');
  return key;
}

function answer(what: unknown): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
