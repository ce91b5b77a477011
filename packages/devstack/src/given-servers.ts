import { connectRedis } from '@plangate/redis';
import { Settings } from '@plangate/service';
import { temporalAnswers } from './temporal.ts';

/** Servers that run already, which a stack uses instead of its own. */
export interface GivenServers {
  redisUrl?: string;
  temporalAddress?: string;
  llmUrl?: string;
}

/**
 * The servers that the settings name: by an environment variable, or in the file by something else than the default.
 * A `LLM_SERVICE_URL` where a llm-service of one's own would listen names no other.
 */
export function givenServers(settings: Settings, environment: NodeJS.ProcessEnv): GivenServers {
  const defaults = Settings.parse({});
  const named = (variable: string, value: string, byDefault: string) =>
    environment[variable] || value !== byDefault ? value : undefined;
  const redisUrl = named('REDIS_URL', settings.redis.url, defaults.redis.url);
  const temporalAddress = named('TEMPORAL_ADDRESS', settings.temporal.address, defaults.temporal.address);
  const { url, port } = settings.llm_service;
  const llmUrl = isLoopbackAt(url, port)
    ? undefined
    : named('LLM_SERVICE_URL', url, defaults.llm_service.url);
  return {
    ...(redisUrl === undefined ? {} : { redisUrl }),
    ...(temporalAddress === undefined ? {} : { temporalAddress }),
    ...(llmUrl === undefined ? {} : { llmUrl }),
  };
}

function isLoopbackAt(url: string, port: number): boolean {
  const at = new URL(url);
  return /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(at.hostname) && at.port === String(port);
}

/**
 * Checks the Redis that the settings name.
 * @throws {Error} where it cannot be reached or is older than 7
 */
export async function checkRedis(url: string): Promise<void> {
  let fault: Error | undefined;
  const redis = connectRedis(url, { onError: (error) => (fault ??= error) });
  try {
    await new Promise((resolve, reject) => {
      redis.once('ready', resolve);
      redis.once('error', reject);
      redis.once('close', () => reject(fault ?? new Error('connection closed')));
    });
    const version = /redis_version:(\d+)/.exec(await redis.info('server'))?.[1];
    if (Number(version) < 7) throw new Error(`it is version ${version}, Plangate needs 7 or later`);
  } catch (error) {
    throw new Error(`Redis at REDIS_URL cannot be used: ${reason(error)}`);
  } finally {
    redis.disconnect();
  }
}

/**
 * Checks the Temporal server that the settings name.
 * @throws {Error} where it does not answer for the namespace
 */
export async function checkTemporal(address: string, namespace: string): Promise<void> {
  await temporalAnswers(address, namespace).catch((error: unknown) => {
    throw new Error(
      `Temporal at ${address} (TEMPORAL_ADDRESS) does not answer for the namespace '${namespace}': ${reason(error)}`,
    );
  });
}

/** Longest wait in milliseconds for the answer of a llm-service. */
const LLM_LIMIT_MS = 5_000;

/**
 * Checks the llm-service that the settings name.
 * @throws {Error} where it does not answer
 */
export async function checkLlmService(url: string): Promise<void> {
  try {
    const { ok, status } = await fetch(new URL('/health', url), {
      signal: AbortSignal.timeout(LLM_LIMIT_MS),
    });
    if (!ok) throw new Error(`/health says ${status}`);
  } catch (error) {
    const fault = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`llm-service at ${url} (LLM_SERVICE_URL) does not answer: ${reason(fault)}`);
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
