import type { ModelChoice } from '@plangate/contracts';
import type { ProviderSettings, Settings } from '@plangate/service';
import { NotConfigured, UnknownProvider } from '../agent.ts';

/** The name of the provider that needs no key and no network. */
export const OFFLINE = 'offline';

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
  const asked = choice.provider_override || models.provider;
  const name = asked === 'auto' ? firstWithKey(models, environment) : asked;
  if (name === OFFLINE) {
    if (choice.model_override && choice.model_override !== OFFLINE_MODEL) {
      throw new NotConfigured('a model was asked for by name, and no provider has a key');
    }
    return { kind: 'offline' };
  }
  const settings = Object.hasOwn(models.providers, name) ? models.providers[name] : undefined;
  if (!settings) {
    if (choice.provider_override) throw new UnknownProvider('provider_override: unknown provider');
    throw new NotConfigured(`models.provider: unknown provider '${name}'`);
  }
  const apiKey = keyOf(settings, environment);
  if (settings.api_key_env && !apiKey) throw new NotConfigured(`${settings.api_key_env} is not set`);
  const modelId = choice.model_override || settings.tiers[choice.model_tier ?? 'medium'];
  return { kind: 'model', name, settings, modelId, apiKey };
}

/** The one model of the offline provider, named for what it does. */
export const OFFLINE_MODEL = 'offline-extractive';

function firstWithKey(models: ModelSettings, environment: NodeJS.ProcessEnv): string {
  const found = Object.entries(models.providers).find(
    ([, settings]) => !settings.api_key_env || keyOf(settings, environment),
  );
  return found?.[0] ?? OFFLINE;
}

function keyOf(settings: ProviderSettings, environment: NodeJS.ProcessEnv): string | undefined {
  return settings.api_key_env ? environment[settings.api_key_env] || undefined : undefined;
}
