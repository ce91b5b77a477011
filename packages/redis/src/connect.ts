import { once } from 'node:events';
import { Redis } from 'ioredis';

export interface RedisOptions {
  /** Longest wait for one reply in milliseconds; with what a request needs besides it stays within 2 s (contract §6). */
  commandTimeoutMs?: number;
  /** Name shown by `CLIENT LIST`. */
  name?: string;
  /** Told of connection faults; they are never thrown, requests fail by themselves. */
  onError?: (error: Error) => void;
}

/**
 * A connection for requests: nothing is queued while Redis is away and nothing is sent twice, so a request
 * fails within the time-out instead of hanging, and its caller knows that it may or may not have happened.
 * Reconnects by itself, at least once a second.
 */
export function connectRedis(url: string, options: RedisOptions = {}): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: options.commandTimeoutMs ?? 1_800,
    connectTimeout: 1_800,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
    ...(options.name ? { connectionName: options.name } : {}),
  });
  redis.on('error', (error: Error) => options.onError?.(error));
  return redis;
}

/** Longest wait in milliseconds for the first connection. */
const FIRST_WAIT_MS = 2_000;

/** Waits a little for the first connection, so that what comes first finds it; never rejects. */
export async function firstConnection(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await once(redis, 'ready', { signal: AbortSignal.timeout(FIRST_WAIT_MS) }).catch(() => {
    // Requests fail until Redis is there.
  });
}

const UNAVAILABLE =
  /Connection is closed|isn't writeable|Command timed out|Reached the max retries|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|^(LOADING|CLUSTERDOWN|MASTERDOWN|READONLY|OOM|MISCONF|BUSY|NOAUTH|UNKILLABLE|NOREPLICAS)\b/;

/** True for a fault of Redis or of the way to it, which is answered 503; false for a fault of ours. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A transaction is discarded because of what its commands were answered, such as LOADING.
  if (error.message.startsWith('EXECABORT') && 'previousErrors' in error) {
    return Array.isArray(error.previousErrors) && error.previousErrors.some(isRedisUnavailable);
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return UNAVAILABLE.test(error.message) || UNAVAILABLE.test(code);
}
