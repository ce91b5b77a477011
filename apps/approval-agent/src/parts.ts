import type { Authenticator, HealthCheck, IdempotencyStore, RateLimiter } from '@plangate/http';
import type { Logger, Settings } from '@plangate/service';
import type { Registry } from 'prom-client';
import type { TurnLimits } from './thread-contract.ts';
import type { Threads } from './threads.ts';

/** Everything that the routes are built from. */
export interface AgentParts {
  settings: Settings['approval_agent'];
  log: Logger;
  /** Version of the product, as health shows it. */
  version: string;
  authenticator: Authenticator;
  threads: Threads;
  idempotency: IdempotencyStore;
  /** Counts the requests of a user, together with those at the gateway. */
  limit: RateLimiter;
  limits: TurnLimits;
  metrics: Registry;
  checks: Record<string, HealthCheck>;
}
