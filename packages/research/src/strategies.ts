import type { Strategy, StrategyName, StrategyPresets } from '@plangate/contracts';

/** Values that the caller gave; undefined leaves the preset's. */
export type StrategyOverrides = { [Key in keyof Strategy]?: Strategy[Key] | undefined };

/** The preset of that name with the caller's values in it (`contract/plan-review.md §1`, research settings). */
export function resolveStrategy(
  presets: StrategyPresets,
  name: StrategyName,
  overrides: StrategyOverrides = {},
): Strategy {
  const preset = presets[name];
  return {
    max_questions: overrides.max_questions ?? preset.max_questions,
    max_concurrent_agents: overrides.max_concurrent_agents ?? preset.max_concurrent_agents,
    passages_per_question: overrides.passages_per_question ?? preset.passages_per_question,
    max_iterations: overrides.max_iterations ?? preset.max_iterations,
    enable_verification: overrides.enable_verification ?? preset.enable_verification,
  };
}
