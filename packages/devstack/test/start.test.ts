import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectRedis } from '@plangate/redis';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { freePort, startApp, startRedis } from '../src/index.ts';
import { eventually, isAlive } from './processes.ts';

const entry = fileURLToPath(new URL('../src/start.ts', import.meta.url));
const KEYS = fileURLToPath(new URL('../../../apps/gateway/src/keys.ts', import.meta.url));

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'plangate-test-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

test('Ctrl-C stops everything, and the next start finds the open review again', async () => {
  const env = await freePorts();
  const url = `http://127.0.0.1:${env.GATEWAY_PORT}/api/v1/tasks`;
  const headers = { 'Content-Type': 'application/json' };

  const first = start(env);
  await eventually(() => first.output().includes('Plangate is ready'), 60_000);
  const body = JSON.stringify({ query: 'How are retries handled?', context: { require_review: true } });
  const submitted = await fetch(url, { method: 'POST', headers, body });
  const { task_id } = (await submitted.json()) as { task_id: string };
  const before = await (await fetch(`${url}/${task_id}/review`)).json();
  expect(before).toMatchObject({ status: 'reviewing', version: 1 });
  first.process.kill('SIGINT');
  first.process.kill('SIGINT');
  expect(await first.ended).toBe(0);
  await expect(fetch(url)).rejects.toThrow();

  const second = start(env);
  await eventually(() => second.output().includes('Plangate is ready'), 60_000);
  expect(await (await fetch(`${url}/${task_id}/review`)).json()).toEqual(before);
  second.process.kill('SIGTERM');
  expect(await second.ended).toBe(0);
}, 120_000);

test('a taken port is named with the variable that changes it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };

  const gateway = start({ GATEWAY_PORT: String(port) });
  expect(await gateway.ended).toBe(1);
  expect(gateway.output()).toMatch(
    new RegExp(`port ${port} for the gateway is taken[\\s\\S]*GATEWAY_PORT=\\d+`),
  );

  const llm = start({ ...(await freePorts()), LLM_SERVICE_PORT: String(port) });
  expect(await llm.ended).toBe(1);
  expect(llm.output()).toMatch(
    new RegExp(`port ${port} for the llm-service is taken[\\s\\S]*LLM_SERVICE_PORT=\\d+`),
  );

  const agent = start({ ...(await freePorts()), APPROVAL_AGENT_PORT: String(port) });
  expect(await agent.ended).toBe(1);
  expect(agent.output()).toMatch(
    new RegExp(`port ${port} for the approval agent is taken[\\s\\S]*APPROVAL_AGENT_PORT=\\d+`),
  );
  other.close();

  const foreign = start({ GATEWAY_HOST: '192.0.2.1', GATEWAY_SKIP_AUTH: '0' });
  expect(await foreign.ended).toBe(1);
  expect(foreign.output()).toMatch(/192\.0\.2\.1 is no address of this machine: see GATEWAY_HOST/);

  const same = String(await freePort());
  const twice = start({ GATEWAY_PORT: same, LLM_SERVICE_PORT: same });
  expect(await twice.ended).toBe(1);
  expect(twice.output()).toMatch(/cannot both have port/);
});

test('the ready block names the provider with the key that it waits for, and a folder of documents that is missing', async () => {
  const ports = await freePorts();
  const settings = join(data, 'own.yaml');
  const missing = join(data, 'no-documents');
  writeFileSync(settings, `documents:\n  folders:\n    - path: ${missing}\n`);
  const env = { ...ports, PLANGATE_CONFIG: settings, MODEL_PROVIDER: 'openai', OPENAI_API_KEY: '' };
  const started = start(env);
  await eventually(() => started.output().includes('Plangate is ready'), 60_000);
  expect(started.output()).toMatch(/Models +openai, but OPENAI_API_KEY is not set: plans will fail/);
  expect(started.output()).toContain(`WARNING: there is no folder ${missing}`);
  for (const app of ['llm-service', 'orchestrator']) {
    const logged = () => readFileSync(join(data, 'logs', `${app}.log`), 'utf8');
    await eventually(() => logged().includes('a folder of documents is empty or missing'), 10_000);
    expect(logged()).toContain(`"folder":"${missing}","reason":"there is no such folder"`);
  }
  started.process.kill('SIGTERM');
  expect(await started.ended).toBe(0);
}, 90_000);

test('servers that the environment or the settings file name are used instead of own ones', async () => {
  const { GATEWAY_PORT, APPROVAL_AGENT_PORT } = await freePorts();
  const [redis, llm] = [
    await startRedis(),
    await startApp('llm-service', { env: { MODEL_PROVIDER: 'offline' } }),
  ];
  const settings = join(data, 'own.yaml');
  writeFileSync(settings, `redis:\n  url: ${redis.url}\n`);
  const started = start({
    GATEWAY_PORT,
    APPROVAL_AGENT_PORT,
    PLANGATE_CONFIG: settings,
    LLM_SERVICE_URL: llm.url ?? '',
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: `plangate-${randomUUID()}`,
  });
  await eventually(() => started.output().includes('Plangate is ready'), 60_000);
  expect(started.output()).not.toMatch(/(Redis|Temporal|llm-service) ready/);
  expect(started.output()).toContain(`Models      those of the llm-service at ${llm.url}`);

  const url = `http://127.0.0.1:${GATEWAY_PORT}/api/v1/tasks`;
  const body = JSON.stringify({ query: 'How are retries handled?', context: { require_review: true } });
  const headers = { 'Content-Type': 'application/json' };
  const submitted = await fetch(url, { method: 'POST', headers, body });
  const { task_id } = (await submitted.json()) as { task_id: string };
  expect((await fetch(`${url}/${task_id}/review`)).status).toBe(200);
  // A request is logged once its answer is sent.
  await eventually(() => llm.logs().includes('/agent/research-plan'));
  const connection = connectRedis(redis.url);
  await eventually(() => connection.status === 'ready');
  expect(await connection.dbsize()).toBeGreaterThan(0);
  connection.disconnect();

  started.process.kill('SIGTERM');
  expect(await started.ended).toBe(0);
  expect((await fetch(`${llm.url}/health`)).status).toBe(200);
  await Promise.all([llm.stop(), redis.stop()]);
}, 90_000);

test('--help says how to change ports and servers, and starts nothing', async () => {
  const help = start({}, ['--help']);
  expect(await help.ended).toBe(0);
  expect(help.output()).toMatch(/^usage: npm start[\s\S]*GATEWAY_PORT[\s\S]*LLM_SERVICE_URL/);
  const wrong = start({}, ['--dmeo']);
  expect(await wrong.ended).toBe(2);
});

test('what the environment says of tokens and rate limits reaches the apps', async () => {
  const ports = await freePorts();
  const token = {
    JWT_SECRET: 'a secret of 32 bytes, or of more.',
    JWT_ISSUER: 'issuer',
    JWT_AUDIENCE: 'audience',
  };
  const started = start({ ...ports, ...token, GATEWAY_SKIP_AUTH: '0', RATE_LIMIT_MINUTE: '7' });
  await eventually(() => started.output().includes('Plangate is ready'), 60_000);

  const headers = { Authorization: `Bearer ${signed(token.JWT_SECRET)}`, 'Content-Type': 'application/json' };
  const tasks = await fetch(`http://127.0.0.1:${ports.GATEWAY_PORT}/api/v1/tasks`, { headers });
  expect(tasks.status).toBe(200);
  expect(tasks.headers.get('X-RateLimit-Limit-Minute')).toBe('7');
  const chat = { method: 'POST', headers, body: JSON.stringify({ message: 'hello' }) };
  expect((await fetch(`http://127.0.0.1:${ports.APPROVAL_AGENT_PORT}/hitl/chat`, chat)).status).toBe(200);

  started.process.kill('SIGTERM');
  expect(await started.ended).toBe(0);
}, 90_000);

test('npm run keys finds the Redis of the product that runs, wherever that is', async () => {
  const ports = await freePorts();
  const started = start({ ...ports, GATEWAY_SKIP_AUTH: '0' });
  await eventually(() => started.output().includes('Plangate is ready'), 60_000);
  const create = ['create', '--user', 'ada', '--tenant', 'acme', '--json'];
  const env = { ...process.env, PLANGATE_DATA: data, REDIS_URL: '' };
  const { stdout } = await promisify(execFile)(process.execPath, [KEYS, ...create], { env });
  const headers = { 'X-API-Key': JSON.parse(stdout).key };
  const tasks = await fetch(`http://127.0.0.1:${ports.GATEWAY_PORT}/api/v1/tasks`, { headers });
  expect(tasks.status).toBe(200);
  started.process.kill('SIGTERM');
  expect(await started.ended).toBe(0);
  expect(existsSync(join(data, 'running.json'))).toBe(false);
}, 90_000);

test('an app that crashes is named with its last lines, and everything stops with exit code 1', async () => {
  const env = await freePorts();
  const started = start(env);
  await eventually(() => started.output().includes('Plangate is ready'), 60_000);
  const health = await fetch(`http://127.0.0.1:${env.LLM_SERVICE_PORT}/health`);
  expect(health.status).toBe(200);
  const [pid] = pidsOf(started.output(), 'llm-service');

  process.kill(pid!, 'SIGKILL');

  expect(await started.ended).toBe(1);
  expect(started.output()).toMatch(/llm-service was ended by SIGKILL\. Its last log lines:\n\{/);
  const pids = ['Redis', 'Temporal', 'gateway', 'orchestrator', 'approval-agent'].flatMap((name) =>
    pidsOf(started.output(), name),
  );
  expect(pids).toHaveLength(5);
  expect(pids.filter(isAlive)).toEqual([]);
}, 90_000);

test('the demo walks a task to its cited report and an e-mail past a person, and ends with exit code 0', async () => {
  const env = await freePorts();
  const demo = start(env, ['--demo']);
  expect(await demo.ended, demo.output()).toBe(0);
  expect(demo.output()).toMatch(
    /RESEARCH_PLAN_APPROVED[\s\S]*WORKFLOW_COMPLETED[\s\S]*== Report[\s\S]*\n\[1\] /,
  );
  expect(demo.output()).toMatch(/The meeting is at 11\.[\s\S]*\nHistory: send_email .*at 11\./);
}, 90_000);

test('a demo that cannot come to its report says why and ends with exit code 1', async () => {
  const ports = await freePorts();
  const demo = start({ ...ports, GATEWAY_SKIP_AUTH: '0', PLANGATE_API_KEY: '' }, ['--demo']);
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toMatch(/The demo failed: the gateway wants an API key/);
}, 90_000);

/** A token of ada of acme for a minute (RFC 7519). */
function signed(secret: string): string {
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const claims = { sub: 'ada', tenant_id: 'acme', iss: 'issuer', aud: 'audience', exp };
  const parts = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createHmac('sha256', secret).update(parts.join('.')).digest('base64url');
  return [...parts, signature].join('.');
}

/** Ports of its own for each app. */
async function freePorts() {
  const [gateway, llm, agent] = [await freePort(), await freePort(), await freePort()];
  return {
    GATEWAY_PORT: String(gateway),
    LLM_SERVICE_PORT: String(llm),
    APPROVAL_AGENT_PORT: String(agent),
  };
}

/** The process ids that the progress lines show. */
function pidsOf(output: string, name: string): number[] {
  const line = new RegExp(`^ +${name} ready \\(.*process (\\d+)\\)$`, 'm').exec(output);
  return line ? [Number(line[1])] : [];
}

interface Started {
  process: ChildProcessByStdio<null, Readable, Readable>;
  output(): string;
  ended: Promise<number | null>;
}

function start(env: Record<string, string>, args: string[] = []): Started {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...process.env, PLANGATE_DATA: data, MODEL_PROVIDER: 'offline', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { process: child, output: () => output, ended };
}
