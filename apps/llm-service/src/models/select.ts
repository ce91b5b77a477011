import type { ModelChoice } from '@plangate/contracts';
import { chosenProvider, OFFLINE, type ProviderSettings, type Settings } from '@plangate/service';
import { NotConfigured, UnknownProvider } from '../agent.ts';

export type ModelSettings = Settings['models'];

/** The provider and model that a request gets. */
export type Selection =
  | { kind: 'offline' }
  | { kind: 'model'; name: string; settings: ProviderSettings; modelId: string; apiKey: string | undefined };

/**
 * Chooses provider and model: `provider_override`, else the configured provider, where `auto` is the first one
 * whose key is set (or that needs none), else offline. A model asked for by name is never swapped for another.
 * @throws {NotConfigured} where the chosen provider has no key
 * @throws {UnknownProvider} where the request names one that the settings do not have
 */
export function selectModel(
  models: ModelSettings,
  environment: NodeJS.ProcessEnv,
  choice: ModelChoice,
): Selection {
  const { name, settings, missingKey } = chosenProvider(
    models,
    environment,
    choice.provider_override || models.provider,
  );
  if (name === OFFLINE) {
    if (choice.model_override && choice.model_override !== OFFLINE_MODEL) {
      throw new NotConfigured('a model was asked for by name, and no provider has a key');
    }
    return { kind: 'offline' };
  }
  if (!settings) {
    if (choice.provider_override) throw new UnknownProvider('provider_override: unknown provider');
    throw new NotConfigured(`models.provider: unknown provider '${name}'`);
  }
  if (missingKey) {
    throw new NotConfigured(`${missingKey} is not set`, { provider: name, missing_key: missingKey });
  }
  const apiKey = settings.api_key_env ? environment[settings.api_key_env] : undefined;
  const modelId = choice.model_override || settings.tiers[choice.model_tier ?? 'medium'];
  return { kind: 'model', name, settings, modelId, apiKey };
}

/** The one model of the offline provider, named for what it does. */
export const OFFLINE_MODEL = 'offline-extractive';
