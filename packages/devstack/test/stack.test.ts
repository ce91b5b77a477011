import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { type Stack, startApp, startStack } from '../src/index.ts';
import { ALL_APPS } from '../src/stack.ts';
import { isAlive } from './processes.ts';

test('two stacks run side by side on one Temporal server, and stop leaves nothing of them', async () => {
  const temporalAddress = inject('temporalAddress');
  const whole = { temporalAddress, apps: ALL_APPS };
  const stacks = await Promise.all([startStack(whole), startStack(whole)]);
  const [one, two] = stacks as [Stack, Stack];

  const bodies = stacks.map(async ({ gatewayUrl }) => (await fetch(`${gatewayUrl}/readiness`)).json());
  expect(await Promise.all(bodies)).toMatchObject([{ status: 'ready' }, { status: 'ready' }]);
  for (const name of [
    'GATEWAY_PORT',
    'APPROVAL_AGENT_PORT',
    'LLM_SERVICE_PORT',
    'REDIS_URL',
    'TEMPORAL_TASK_QUEUE',
  ]) {
    expect(one.env[name], name).not.toBe(two.env[name]);
  }

  const apps = stacks.flatMap((stack) => Object.values(stack.apps));
  expect(apps).toHaveLength(8);
  await Promise.all(stacks.map((stack) => stack.stop()));
  expect(apps.filter((app) => isAlive(app.pid) || existsSync(app.logFile))).toEqual([]);
}, 120_000);

test('an app that was killed comes back on its port', async () => {
  const app = await startApp('llm-service', { env: { MODEL_PROVIDER: 'offline' } });
  await app.kill();
  await expect(fetch(`${app.url}/health`)).rejects.toThrow();
  await app.restart();
  expect((await fetch(`${app.url}/health`)).status).toBe(200);
  await app.stop();
});

test('a part that does not start is named with its reason, and nothing of the others is left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plangate-test-'));
  const settingsFile = join(folder, 'plangate.yaml');
  writeFileSync(settingsFile, 'llm_service:\n  prot: 8000\n');
  const pids: number[] = [];
  const starting = startStack({
    temporalAddress: inject('temporalAddress'),
    apps: ['llm-service', 'gateway'],
    settingsFile,
    onReady: (_name, _milliseconds, pid) => pids.push(pid),
  });
  await expect(starting).rejects.toThrow(/ended with exit code 78[\s\S]*llm_service.prot: unknown setting/);
  expect(pids).toHaveLength(1);
  expect(pids.filter(isAlive)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('an app that ends by itself is reported with its last lines; one that is stopped is not', async () => {
  const crashes: string[] = [];
  const app = await startApp('llm-service', {
    env: { MODEL_PROVIDER: 'offline' },
    onCrash: ({ name, reason, lastLines }) => {
      crashes.push(`${name} ${reason} ${lastLines.includes('listening')}`);
    },
  });
  await app.restart();
  process.kill(app.pid, 'SIGKILL');
  await expect.poll(() => crashes).toEqual(['llm-service was ended by SIGKILL true']);
  await app.stop();
  expect(crashes).toHaveLength(1);
});
