import { ENVIRONMENT, namedServers, Settings } from '@plangate/service';
import { freePort, isPortFree, portTrouble } from './free-port.ts';
import { checkLlmService, checkRedis, checkTemporal } from './given-servers.ts';
import { findRedis } from './install/redis.ts';
import { findTemporal } from './install/temporal.ts';
import { ALL_APPS, type StackOptions } from './stack.ts';

const DEFAULT_REDIS_PORT = 6379;
const DEFAULT_TEMPORAL_PORT = 7233;

/**
 * Finds everything that the stack needs, before anything is started.
 * @throws {Error} saying which variable to change, where a port is taken or a server that is named does not answer
 */
export async function prepare(settings: Settings, say: (line: string) => void): Promise<StackOptions> {
  const { gateway, llm_service, approval_agent, temporal } = settings;
  const given = namedServers(settings, process.env);
  requireDistinctPorts({
    'the gateway': gateway.port,
    ...(given.llmUrl ? {} : { 'the llm-service': llm_service.port }),
    'the approval agent': approval_agent.port,
  });
  await requirePort(gateway.port, 'the gateway', 'GATEWAY_PORT', gateway.host);
  if (!given.llmUrl) {
    await requirePort(llm_service.port, 'the llm-service', 'LLM_SERVICE_PORT', llm_service.host);
  }
  await requirePort(approval_agent.port, 'the approval agent', 'APPROVAL_AGENT_PORT', approval_agent.host);

  if (given.redisUrl) await checkRedis(given.redisUrl);
  if (given.temporalAddress) await checkTemporal(given.temporalAddress, temporal.namespace);
  if (given.llmUrl) await checkLlmService(given.llmUrl);
  const commands = {
    redis: given.redisUrl ? undefined : await findRedis({ report: say }),
    temporal: given.temporalAddress ? undefined : await findTemporal({ report: say }),
  };
  const ownPort = async (port: number, name: string, variable: string) =>
    preferredPort(port, name, variable, say);
  return {
    ...given,
    commands,
    apps: ALL_APPS,
    ports: {
      gateway: gateway.port,
      approvalAgent: approval_agent.port,
      llmService: llm_service.port,
      redis: given.redisUrl ? undefined : await ownPort(DEFAULT_REDIS_PORT, 'Redis', 'REDIS_URL'),
      temporal: given.temporalAddress
        ? undefined
        : await ownPort(DEFAULT_TEMPORAL_PORT, 'Temporal', 'TEMPORAL_ADDRESS'),
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
      ...(isOwnOutbox(settings) ? {} : { APPROVAL_AGENT_OUTBOX: approval_agent.email.outbox }),
      LLM_SERVICE_HOST: llm_service.host,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MODEL_PROVIDER: settings.models.provider,
    },
  };
}

/** E-mails lie with the other data of a start, unless the settings name another folder. */
function isOwnOutbox({ approval_agent }: Settings): boolean {
  const { outbox } = Settings.parse({}).approval_agent.email;
  return !process.env['APPROVAL_AGENT_OUTBOX'] && approval_agent.email.outbox === outbox;
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
async function preferredPort(
  port: number,
  name: string,
  variable: string,
  say: (line: string) => void,
): Promise<number> {
  if (await isPortFree(port)) return port;
  const other = await freePort();
  say(
    `  port ${port} is taken, so Plangate starts a ${name} of its own on ${other} (${variable} would use another one)`,
  );
  return other;
}
