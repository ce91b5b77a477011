import type { ProviderSettings, Settings } from './settings.ts';

/** The provider that needs no key and no network. */
export const OFFLINE = 'offline';

/** The provider that the settings choose, and what keeps it from being asked. */
export interface ChosenProvider {
  name: string;
  /** None for the offline provider, and for a name that the settings do not have. */
  settings?: ProviderSettings;
  /** Name of the environment variable that holds its key and is not set. */
  missingKey?: string;
}

/**
 * The provider that is asked: the one by that name, where `auto` is the first one whose key is set (or that needs
 * none), else offline (`contract/plan-review.md §5`).
 * @param asked default: the configured one
 */
export function chosenProvider(
  models: Settings['models'],
  environment: NodeJS.ProcessEnv,
  asked: string = models.provider,
): ChosenProvider {
  const name = asked === 'auto' ? firstWithKey(models, environment) : asked;
  const settings = Object.hasOwn(models.providers, name) ? models.providers[name] : undefined;
  if (name === OFFLINE || !settings) return { name };
  const key = settings.api_key_env;
  return { name, settings, ...(key && !environment[key] ? { missingKey: key } : {}) };
}

function firstWithKey(models: Settings['models'], environment: NodeJS.ProcessEnv): string {
  const found = Object.entries(models.providers).find(
    ([, { api_key_env }]) => !api_key_env || environment[api_key_env],
  );
  return found?.[0] ?? OFFLINE;
}
