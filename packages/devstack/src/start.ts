import { join } from 'node:path';
import { configFile, ENVIRONMENT, loadSettings, PROJECT_FOLDER, type Settings } from '@plangate/service';
import { runDemo } from './demo.ts';
import { runApprovalDemo } from './demo-approval.ts';
import { freePort, isPortFree, portTrouble } from './free-port.ts';
import { checkRedis, checkTemporal } from './given-servers.ts';
import { findRedis } from './install/redis.ts';
import { findTemporal } from './install/temporal.ts';
import { readyBlock } from './ready-block.ts';
import { lockFolder } from './run-lock.ts';
import type { Crash } from './server.ts';
import { ALL_APPS, type Stack, type StackOptions, startStack } from './stack.ts';
import { aborted, stopRequest } from './stop-request.ts';

const DEFAULT_REDIS_PORT = 6379;
const DEFAULT_TEMPORAL_PORT = 7233;
const USAGE = 'usage: npm start [-- --demo]';

const began = performance.now();
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  say(`\nPlangate did not start: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
process.exit();

/** Runs the product until it is asked to end; returns the exit code. */
async function main(args: string[]): Promise<number> {
  if (args.some((arg) => arg !== '--demo')) {
    say(USAGE);
    return 2;
  }
  const stop = stopRequest();
  const settings = loadSettings(process.env, configFile('plangate.yaml'));
  const folder = process.env['PLANGATE_DATA'] || join(PROJECT_FOLDER, '.plangate');
  const unlock = lockFolder(folder);
  let stack: Stack | undefined;
  try {
    const crash = Promise.withResolvers<Crash>();
    const options = await prepare(settings);
    stack = await startStack({ ...options, folder, signal: stop, onCrash: crash.resolve });
    const skipAuth = options.env?.['GATEWAY_SKIP_AUTH'] === '1';
    say(readyBlock(stack, { settings, folder, skipAuth, took: seconds(performance.now() - began) }));
    const ends = [aborted(stop).then(() => 0), crash.promise.then(reportCrash)];
    if (args.includes('--demo')) ends.push(demo(stack));
    return await Promise.race(ends);
  } catch (error) {
    if (stop.aborted) return 0;
    throw error;
  } finally {
    if (stack) {
      say(`\nStopping${stop.aborted ? ` (${stop.reason})` : ''} ...`);
      await stack.stop();
      say('Stopped.');
    }
    unlock();
  }
}

/** Shows what became of a part that ended by itself; returns the exit code. */
function reportCrash({ name, reason, lastLines }: Crash): number {
  say(`\n${name} ${reason}. Its last log lines:\n${lastLines}`);
  return 1;
}

/** Runs the demo; returns the exit code. */
async function demo(stack: Stack): Promise<number> {
  try {
    await runDemo(stack.gatewayUrl, say);
    await runApprovalDemo(stack.approvalUrl, stack.env['APPROVAL_AGENT_OUTBOX'] ?? '', say);
    return 0;
  } catch (error) {
    say(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

/** Finds everything that the stack needs, before anything is started. */
async function prepare(settings: Settings): Promise<StackOptions> {
  const { gateway, llm_service, approval_agent, redis, temporal } = settings;
  requireDistinctPorts({
    'the gateway': gateway.port,
    'the llm-service': llm_service.port,
    'the approval agent': approval_agent.port,
  });
  await requirePort(gateway.port, 'the gateway', 'GATEWAY_PORT', gateway.host);
  await requirePort(llm_service.port, 'the llm-service', 'LLM_SERVICE_PORT', llm_service.host);
  await requirePort(approval_agent.port, 'the approval agent', 'APPROVAL_AGENT_PORT', approval_agent.host);

  const givenRedis = process.env['REDIS_URL'] ? redis.url : undefined;
  const givenTemporal = process.env['TEMPORAL_ADDRESS'] ? temporal.address : undefined;
  if (givenRedis) await checkRedis(givenRedis);
  if (givenTemporal) await checkTemporal(givenTemporal, temporal.namespace);
  const commands = {
    redis: givenRedis ? undefined : await findRedis({ report: say }),
    temporal: givenTemporal ? undefined : await findTemporal({ report: say }),
  };
  return {
    redisUrl: givenRedis,
    temporalAddress: givenTemporal,
    commands,
    apps: ALL_APPS,
    ports: {
      gateway: gateway.port,
      approvalAgent: approval_agent.port,
      llmService: llm_service.port,
      redis: givenRedis ? undefined : await preferredPort(DEFAULT_REDIS_PORT, 'Redis', 'REDIS_URL'),
      temporal: givenTemporal
        ? undefined
        : await preferredPort(DEFAULT_TEMPORAL_PORT, 'Temporal', 'TEMPORAL_ADDRESS'),
    },
    taskQueue: temporal.task_queue,
    settingsFile: process.env['PLANGATE_CONFIG'] || undefined,
    env: {
      ...accessSettings(),
      GATEWAY_HOST: gateway.host,
      GATEWAY_SKIP_AUTH: skipsAuth(settings, 'gateway') ? '1' : '0',
      GATEWAY_ALLOWED_ORIGINS: gateway.allowed_origins.join(','),
      APPROVAL_AGENT_HOST: approval_agent.host,
      APPROVAL_AGENT_SKIP_AUTH: skipsAuth(settings, 'approval_agent') ? '1' : '0',
      APPROVAL_AGENT_ALLOWED_ORIGINS: approval_agent.allowed_origins.join(','),
      ...(process.env['APPROVAL_AGENT_OUTBOX'] ? { APPROVAL_AGENT_OUTBOX: approval_agent.email.outbox } : {}),
      LLM_SERVICE_HOST: llm_service.host,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MODEL_PROVIDER: settings.models.provider,
    },
    onReady: (name, milliseconds, pid) => say(`  ${name} ready (${seconds(milliseconds)}, process ${pid})`),
  };
}

/** What the environment says of tokens and rate limits: the apps get no setting of this process by themselves. */
function accessSettings(): Record<string, string> {
  const names = ENVIRONMENT.filter(({ path: [section] }) => section === 'jwt' || section === 'rate_limits');
  return Object.fromEntries(
    names.flatMap(({ name }) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * No credentials on loopback, unless the environment says otherwise; never by itself on an open address. Who wants
 * them at the gateway gets them at the approval agent too.
 */
function skipsAuth(settings: Settings, app: 'gateway' | 'approval_agent'): boolean {
  const { host, skip_auth } = settings[app];
  const variable = app === 'gateway' ? 'GATEWAY_SKIP_AUTH' : 'APPROVAL_AGENT_SKIP_AUTH';
  if (process.env[variable]) return skip_auth;
  if (skip_auth) return true;
  return /^(127\.|localhost$|::1$)/.test(host) && (app === 'gateway' || skipsAuth(settings, 'gateway'));
}

function requireDistinctPorts(ports: Record<string, number>): void {
  const seen = new Map<number, string>();
  for (const [user, port] of Object.entries(ports)) {
    const other = seen.get(port);
    if (other !== undefined) throw new Error(`${other} and ${user} cannot both have port ${port}`);
    seen.set(port, user);
  }
}

async function requirePort(port: number, user: string, variable: string, host: string): Promise<void> {
  const trouble = await portTrouble(port, host);
  if (!trouble) return;
  const advice = trouble.otherPortHelps
    ? `. Choose another one, such as\n  ${variable}=${await freePort()} npm start`
    : `: see ${variable.replace('_PORT', '_HOST')}`;
  throw new Error(`port ${port} for ${user} ${trouble.reason}${advice}`);
}

/** The usual port, or a free one where another program has it: that program is left alone. */
async function preferredPort(port: number, name: string, variable: string): Promise<number> {
  if (await isPortFree(port)) return port;
  const other = await freePort();
  say(
    `  port ${port} is taken, so Plangate starts a ${name} of its own on ${other} (${variable} would use another one)`,
  );
  return other;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function say(line: string): void {
  console.log(line);
}
