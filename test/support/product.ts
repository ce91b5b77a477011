import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, type StackOptions, startStack } from '@plangate/devstack';
import { inject } from 'vitest';
import { type Client, connectClient } from './client.ts';
import { type Model, startModel } from './model.ts';

/** The whole product as processes, with a model that answers by script, and a client of its public API. */
export interface Product extends Client {
  stack: Stack;
  model: Model;
  stop(): Promise<void>;
}

export interface ProductOptions {
  /** Further options of the stack. */
  stack?: Omit<StackOptions, 'settingsFile'>;
  /** Longest wait in seconds of llm-service for one answer of the model, its retries included. */
  modelSeconds?: number;
  /** Folder of the documents; default: two about tides. */
  documents?: string;
  /** Further sections of `plangate.yaml`, after the one of the models' providers. */
  settings?: string;
}

/** Starts the product over the documents about tides; tasks may ask for `provider_override: offline`. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const { modelSeconds = 20, documents = TIDES, settings = '' } = options;
  const model = await startModel();
  const folder = await mkdtemp(join(tmpdir(), 'plangate-product-'));
  const settingsFile = join(folder, 'plangate.yaml');
  await writeFile(settingsFile, settingsYaml(model.url, modelSeconds, documents) + settings);
  const stack = await startStack({
    temporalAddress: inject('temporalAddress'),
    ...options.stack,
    settingsFile,
    env: { MODEL_PROVIDER: 'scripted', ...options.stack?.env },
  });
  return {
    ...connectClient(stack.gatewayUrl),
    stack,
    model,
    async stop() {
      await stack.stop();
      await model.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const TIDES = 'apps/orchestrator/test/fixtures/documents';

function settingsYaml(url: string, modelSeconds: number, documents: string): string {
  return `
documents:
  folders:
    - path: ${documents}
models:
  timeout_seconds: ${modelSeconds}
  providers:
    scripted:
      kind: openai-compatible
      base_url: ${url}
      tiers: { small: scripted, medium: scripted, large: scripted }
    keyless:
      kind: openai
      api_key_env: PLANGATE_KEY_THAT_NOBODY_SETS
      tiers: { small: none, medium: none, large: none }
`;
}
