import type { Strategy, StrategyPresets } from '@plangate/contracts';

const preset = (max_questions: number, enable_verification: boolean): Strategy => ({
  max_questions,
  max_concurrent_agents: 3,
  passages_per_question: 4,
  max_iterations: 2,
  enable_verification,
});

export const PRESETS: StrategyPresets = {
  quick: preset(3, false),
  standard: preset(5, true),
  deep: preset(8, true),
  academic: preset(10, true),
};

export const LIMITS = { defaultTimeoutSeconds: 900, maxTimeoutSeconds: 2_592_000, maxRounds: 10 };
