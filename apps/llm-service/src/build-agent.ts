import type { ModelChoice } from '@plangate/contracts';
import type { Agent } from './agent.ts';
import { type Converse, converse } from './models/converse.ts';
import { type Generate, generate } from './models/generate.ts';
import { languageModel } from './models/language-model.ts';
import { modelAgent } from './models/model-agent.ts';
import { type ModelSettings, selectModel } from './models/select.ts';

/** What the agent of a process is built from. */
export interface AgentParts {
  models: ModelSettings;
  /** Where the keys are, by the names that the settings give. */
  environment: NodeJS.ProcessEnv;
  /** The provider that needs no key. */
  offline: Agent;
  fetch?: typeof globalThis.fetch;
}

/** One agent over all providers: each request goes to the one that it, or else the settings, choose. */
export function buildAgent({ models, environment, offline, fetch = globalThis.fetch }: AgentParts): Agent {
  const chosen = (choice: ModelChoice) => {
    const selection = selectModel(models, environment, choice);
    if (selection.kind === 'offline') throw new Error('the offline provider has no model to ask');
    const { name: provider, modelId: model } = selection;
    return { model: languageModel(selection, fetch), names: { provider, model } };
  };
  const ask: Generate = async (choice, prompt) => {
    const { model, names } = chosen(choice);
    return generate(model, names, prompt, models.timeout_seconds);
  };
  const talk: Converse = async (request) => {
    const { model, names } = chosen(request);
    return converse(model, names, request, models.timeout_seconds);
  };
  const online = modelAgent(ask, talk);
  const of = (choice: ModelChoice): Agent =>
    selectModel(models, environment, choice).kind === 'offline' ? offline : online;

  return {
    plan: async (request) => of(request).plan(request),
    decompose: async (request) => of(request).decompose(request),
    write: async (request) => of(request).write(request),
    answer: async (request) => of(request).answer(request),
    chat: async (request) => of(request).chat(request),
  };
}
