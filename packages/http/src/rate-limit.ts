import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Owner } from '@plangate/contracts';
import { isRedisUnavailable } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { principalOf } from './auth/principal.ts';
import { HttpError } from './errors.ts';

/** Requests of one user in each window; 0: no limit. */
export interface RateLimits {
  minute: number;
  hour: number;
  day: number;
}

export interface RateLimitOptions {
  /** Told why requests are let through uncounted. */
  onFault: (error: Error) => void;
  /** Longest wait for Redis in milliseconds. */
  patienceMs?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Counts a request that has passed auth; throws {@link HttpError} 429 for one too many. */
export type RateLimiter = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

type Window = keyof RateLimits;
const SECONDS: Record<Window, number> = { minute: 60, hour: 3_600, day: 86_400 };
const WINDOWS: Window[] = ['minute', 'hour', 'day'];
/** With the longest wait for one reply after it, a request still fails within 2 s (`contract/plan-review.md` §6). */
const PATIENCE_MS = 150;
/** How long nothing is counted after a fault, so that a store which is away holds up few requests. */
const STAND_ASIDE_MS = 1_000;

/**
 * Limits requests per user of a tenant, whatever keys that user has (`contract/plan-review.md` §0). A window begins
 * with its first request; one too many in the minute does not count against hour and day. With auth off nothing is
 * limited, and neither is anything while Redis is away; where a user's counter cannot be read, only that user is not.
 */
export function rateLimiter(redis: Redis, limits: RateLimits, options: RateLimitOptions): RateLimiter {
  const { onFault, patienceMs = PATIENCE_MS, now = Date.now } = options;
  const windows = WINDOWS.filter((window) => limits[window] > 0).map((window) => ({
    window,
    limiter: new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `limit:${window}`,
      points: limits[window],
      duration: SECONDS[window],
      rejectIfRedisNotReady: true,
    }),
  }));
  let asideUntil = 0;

  /** Of all windows, asked at once; null where that cannot be had. */
  async function count(user: string): Promise<Count[] | null> {
    if (now() < asideUntil) return null;
    try {
      const counted = await within(patienceMs, Promise.all(windows.map((each) => consume(each, user))));
      if (counted) return counted;
      throw new Error(`no answer within ${patienceMs} ms`);
    } catch (error) {
      const fault = error instanceof Error ? error : new Error(String(error));
      if (!isOfOneUser(fault)) asideUntil = now() + STAND_ASIDE_MS;
      onFault(fault);
      return null;
    }
  }

  return async (req, res) => {
    const { owner, via } = principalOf(req);
    if (via === 'skip') return;
    const user = nameOf(owner);
    const counts = await count(user);
    if (!counts) return;
    const minute = counts.find(({ window }) => window === 'minute');
    if (minute) {
      res.setHeader('X-RateLimit-Limit-Minute', String(limits.minute));
      res.setHeader('X-RateLimit-Remaining-Minute', String(minute.remaining));
      res.setHeader('X-RateLimit-Reset', String(Math.ceil((now() + minute.msBeforeNext) / 1_000)));
    }
    const over = counts.findIndex(({ exceeded }) => exceeded);
    const exceeded = counts[over];
    if (!exceeded) return;
    // What a shorter window refuses does not count in the longer ones, not even where a burst has filled them.
    const longer = counts.slice(over + 1);
    await Promise.all(longer.map(({ limiter }) => limiter.reward(user))).catch(onFault);
    throw tooManyRequests(exceeded.window, Math.max(1, Math.ceil(exceeded.msBeforeNext / 1_000)));
  };
}

interface Limited {
  window: Window;
  limiter: RateLimiterRedis;
}

interface Count extends Limited {
  remaining: number;
  msBeforeNext: number;
  exceeded: boolean;
}

/** The limiter throws its count where it is exceeded, and an error where there is none. */
async function consume({ window, limiter }: Limited, user: string): Promise<Count> {
  const show = ({ remainingPoints, msBeforeNext }: RateLimiterRes, exceeded: boolean): Count => ({
    window,
    limiter,
    remaining: remainingPoints,
    msBeforeNext,
    exceeded,
  });
  try {
    return show(await limiter.consume(user), false);
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return show(thrown, true);
    throw thrown;
  }
}

/** Redis has answered, with a fault that is none of its own: the counter of this user is something else. */
function isOfOneUser(error: Error): boolean {
  return error.name === 'ReplyError' && !isRedisUnavailable(error);
}

/** Null where it takes longer; what becomes of it then is of no interest. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Names may hold any character: neither of them may shift the parts. */
function nameOf({ tenant, user }: Owner): string {
  return `${encodeURIComponent(tenant.toWellFormed())}:${encodeURIComponent(user.toWellFormed())}`;
}

function tooManyRequests(window: Window, seconds: number): HttpError {
  const message = `Too many requests. ${window} limit exceeded. Please retry after ${seconds} seconds.`;
  return new HttpError(429, 'rate_limited', 'Rate limit exceeded', {
    fields: { message, window },
    headers: { 'Retry-After': String(seconds) },
  });
}
