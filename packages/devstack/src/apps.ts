import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT, PROJECT_FOLDER } from '@plangate/service';
import { readLog } from './child.ts';
import { dataFolder } from './data-folder.ts';
import { freePort, requireFreePort } from './free-port.ts';
import { type Crash, type Server, startServer } from './server.ts';

export type AppName = 'gateway' | 'orchestrator' | 'llm-service' | 'approval-agent';

export interface AppOptions {
  /** Settings of the app; those of this process are not handed down. Ports that are missing are free ones. */
  env?: Record<string, string>;
  /** Default: in a temporary folder. */
  logFile?: string;
  /** Gives the start up. */
  signal?: AbortSignal;
  onCrash?: ((crash: Crash) => void) | undefined;
}

/** A running process of the product. */
export interface App extends Server {
  readonly name: AppName;
  /** Where it listens; none for the orchestrator. */
  readonly url?: string;
  /** Everything it has logged so far, JSON lines. */
  logs(): string;
}

/** The environment variables that say where an app listens. */
const LISTENS: Partial<Record<AppName, { port: string; host: string }>> = {
  gateway: { port: 'GATEWAY_PORT', host: 'GATEWAY_HOST' },
  'llm-service': { port: 'LLM_SERVICE_PORT', host: 'LLM_SERVICE_HOST' },
  'approval-agent': { port: 'APPROVAL_AGENT_PORT', host: 'APPROVAL_AGENT_HOST' },
};

/** The apps that are ready when their Temporal worker is. */
const WORKERS: AppName[] = ['orchestrator', 'approval-agent'];

/** Longest wait in milliseconds for an app: a Temporal worker bundles its workflows first. */
const START_LIMIT_MS = 60_000;

/**
 * Starts an app under this Node and waits until it serves.
 * @throws {Error} with its last log lines where it ends early or is not ready in time
 */
export async function startApp(name: AppName, options: AppOptions = {}): Promise<App> {
  const entry = join(PROJECT_FOLDER, 'apps', name, 'src', 'main.ts');
  if (!existsSync(entry)) throw new Error(`${name} cannot be started: ${entry} is missing`);
  const env = { ...inheritedEnvironment(), ...options.env };
  const url = await listenAddress(name, env);
  const folder = options.logFile === undefined ? dataFolder(undefined, name) : undefined;
  const logFile = options.logFile ?? join(folder?.path ?? '.', `${name}.log`);
  const server = await startServer({
    name,
    command: process.execPath,
    args: [entry],
    cwd: PROJECT_FOLDER,
    env,
    logFile,
    limitMs: START_LIMIT_MS,
    isReady: async ({ log }) =>
      (!WORKERS.includes(name) || isWorkerRunning(log())) && (!url || (await fetch(`${url}/health`)).ok),
    release: () => folder?.release(),
    signal: options.signal,
    onCrash: options.onCrash,
  });
  return Object.assign(server, { name, logs: () => readLog(logFile), ...(url ? { url } : {}) });
}

/** What an app takes over from this process: everything but the settings. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  const settings = new Set([...ENVIRONMENT.map(({ name }) => name), 'PLANGATE_CONFIG', 'NODE_CHANNEL_FD']);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.has(name)));
}

/** Where the app will listen; sets a free port in `env` where there is none. */
async function listenAddress(name: AppName, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const listens = LISTENS[name];
  if (!listens) return undefined;
  env[listens.port] ??= String(await freePort());
  const port = Number(env[listens.port]);
  await requireFreePort(port, name, env[listens.host] ?? '127.0.0.1');
  return `http://127.0.0.1:${port}`;
}

function isWorkerRunning(log: string): boolean {
  return /"msg":"worker running"/.test(log);
}
