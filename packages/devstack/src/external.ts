import type { RedisServer } from './redis.ts';
import type { TemporalServer } from './temporal.ts';

/** Redis as a stack uses it: a server of the stack, or one that it was given and leaves alone. */
export type RedisPart = Pick<RedisServer, 'url' | 'stop' | 'kill' | 'restart'>;
/** Temporal as a stack uses it. */
export type TemporalPart = Pick<TemporalServer, 'address' | 'stop' | 'kill' | 'restart'>;

/** A server that somebody else runs: `stop` leaves it alone, `kill` and `restart` are refused. */
export function external<T extends { url: string } | { address: string }>(name: string, where: T) {
  const refuse = () => Promise.reject(new Error(`${name} was not started here`));
  return { ...where, stop: () => Promise.resolve(), kill: refuse, restart: refuse };
}
