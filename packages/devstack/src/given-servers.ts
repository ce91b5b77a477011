import { connectRedis } from '@plangate/redis';
import { temporalAnswers } from './temporal.ts';

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
