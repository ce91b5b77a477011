import { skipAuth } from '@plangate/http';
import { createLog, Settings } from '@plangate/service';
import { Registry } from 'prom-client';
import type { AgentParts } from '../src/parts.ts';

/** Parts without a store and an engine behind them, for what comes before these. @param look is told of each thread */
export function partsThatOnly(look: (workflowId: string) => Promise<null>): AgentParts {
  return {
    settings: Settings.parse({ approval_agent: { skip_auth: true } }).approval_agent,
    log: createLog('test', 'silent'),
    version: '0',
    authenticator: skipAuth,
    threads: {
      chat: async (id) => (await look(id)) ?? { kind: 'done', outcome: { kind: 'answer', answer: 'ok' } },
      review: async (id) => (await look(id)) ?? { kind: 'unknown_thread' },
      outcome: look,
      view: look,
      messages: look,
      check: async () => undefined,
      close: async () => undefined,
    },
    idempotency: { take: look, swap: async () => true, read: async () => null, write: async () => undefined },
    limit: async () => undefined,
    limits: { maxSteps: 25, toolTimeoutSeconds: 1, turnsPerRun: 1 },
    metrics: new Registry(),
    checks: {},
  };
}
