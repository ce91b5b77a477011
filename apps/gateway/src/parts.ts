import type { IncomingMessage } from 'node:http';
import type { StrategyPresets } from '@plangate/contracts';
import type { EventHub, EventLog } from '@plangate/events/redis';
import {
  type Authenticator,
  type HealthCheck,
  type IdempotencyStore,
  principalOf,
  type RateLimiter,
  requestIdOf,
} from '@plangate/http';
import type { ReviewStore } from '@plangate/review/redis';
import type { Caller, Deliver, FeedbackLock } from '@plangate/review/use-cases';
import type { LlmClient, Logger, Settings } from '@plangate/service';
import type { SessionStore, TaskStore } from '@plangate/tasks/redis';
import type { Registry } from 'prom-client';
import type { Engine } from './engine.ts';
import type { Work } from './work.ts';

/** Everything that the routes are built from. */
export interface GatewayParts {
  settings: Settings;
  presets: StrategyPresets;
  log: Logger;
  /** Version of the product, as health shows it. */
  version: string;
  authenticator: Authenticator;
  tasks: TaskStore;
  sessions: SessionStore;
  reviews: ReviewStore;
  events: EventLog;
  hub: EventHub;
  idempotency: IdempotencyStore;
  limit: RateLimiter;
  engine: Engine;
  llm: LlmClient;
  lock: FeedbackLock;
  deliver: Deliver;
  newId: () => string;
  metrics: Registry;
  checks: Record<string, HealthCheck>;
  /** What goes on after its client has gone. */
  work: Work;
  /** Aborted when the gateway stops: whoever waits is answered then. */
  stopping: AbortSignal;
}

/** Who asks, as the rules of a review want it. */
export function callerOf(parts: GatewayParts, req: IncomingMessage): Caller {
  const { owner } = principalOf(req);
  return { owner, authOff: parts.settings.gateway.skip_auth, requestId: requestIdOf(req) };
}
