import { type StrategyPresets as Presets, StrategyPresets } from '@plangate/contracts';
import { readYamlSettings } from './yaml-settings.ts';

/**
 * The presets of `config/research_strategies.yaml`; all four names must be there.
 * @throws {SettingsError} naming file, line and reason
 */
export function loadStrategies(file: string): Presets {
  return readYamlSettings(file, StrategyPresets);
}
