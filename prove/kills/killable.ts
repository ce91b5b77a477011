import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, startStack } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { type Client, connectClient } from '../../test/support/client.ts';
import { type Model, startModel } from '../../test/support/model.ts';

export const PARTS = ['gateway', 'orchestrator', 'llm-service', 'redis', 'temporal'] as const;
export type Part = (typeof PARTS)[number];

/** Lifetime of the lock of a feedback in seconds: short, so that one that was left behind is soon free. */
export const LOCK_SECONDS = 3;

/** The whole product with Redis and Temporal of its own, each of which can be killed and started again. */
export interface Killable {
  gatewayUrl: string;
  client: Client;
  model: Model;
  /** For looking, not for changing. */
  redis: Redis;
  kill(part: Part): Promise<void>;
  restart(part: Part): Promise<void>;
  stop(): Promise<void>;
}

export async function startKillable(): Promise<Killable> {
  const model = await startModel();
  const folder = await mkdtemp(join(tmpdir(), 'plangate-kills-'));
  const settingsFile = join(folder, 'plangate.yaml');
  await writeFile(settingsFile, settingsYaml(model.url));
  const stack = await startStack({ settingsFile, env: { MODEL_PROVIDER: 'scripted' } });
  const servers: Record<Part, Pick<App, 'kill' | 'restart'>> = {
    gateway: stack.apps.gateway,
    orchestrator: stack.apps.orchestrator,
    'llm-service': stack.apps.llmService,
    redis: stack.redis,
    temporal: stack.temporal,
  };
  const redis = connectRedis(stack.redis.url);
  return {
    gatewayUrl: stack.gatewayUrl,
    client: connectClient(stack.gatewayUrl),
    model,
    redis,
    kill: (part) => servers[part].kill(),
    restart: (part) => servers[part].restart(),
    async stop() {
      redis.disconnect();
      await stack.stop();
      await model.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function settingsYaml(modelUrl: string): string {
  return `
review:
  lock_ttl_seconds: ${LOCK_SECONDS}
sweep:
  interval_seconds: 1
  patience_seconds: 4
  overdue_seconds: 6
documents:
  folders:
    - path: apps/orchestrator/test/fixtures/documents
models:
  timeout_seconds: 20
  providers:
    scripted:
      kind: openai-compatible
      base_url: ${modelUrl}
      tiers: { small: scripted, medium: scripted, large: scripted }
`;
}
