import { Settings } from './settings.ts';

/** Servers that run already, which a stack uses instead of its own. */
export interface NamedServers {
  redisUrl?: string;
  temporalAddress?: string;
  llmUrl?: string;
}

/**
 * The servers that the settings name: by an environment variable, or in the file by something else than the default.
 * A `LLM_SERVICE_URL` where a llm-service of one's own would listen names no other.
 */
export function namedServers(settings: Settings, environment: NodeJS.ProcessEnv): NamedServers {
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
