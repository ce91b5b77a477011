import { z } from 'zod';

export const STRATEGIES = ['quick', 'standard', 'deep', 'academic'] as const;
export const StrategyName = z.enum(STRATEGIES);
export type StrategyName = z.infer<typeof StrategyName>;

/** One thing to look up; `terms` are the words that a search should weigh. */
export const Question = z.object({
  id: z.string().min(1),
  text: z.string().min(1),
  terms: z.array(z.string()),
});
export type Question = z.infer<typeof Question>;

/** A piece of a source, with where it comes from. */
export const Passage = z.object({
  /** Stable for the same text of the same source. */
  id: z.string().min(1),
  title: z.string(),
  /** Address to open: `file:` path relative to the documents' folder, or a web URL. */
  url: z.string(),
  /** Kind of source, such as `local`. */
  source: z.string(),
  text: z.string().min(1),
  /** Heading under which it stands, `""` where there is none. */
  heading: z.string(),
});
export type Passage = z.infer<typeof Passage>;

/** A reference `[n]` of a report, checked against its passage (§1, `metadata.citations`). */
export const Citation = z.object({
  n: z.int().positive(),
  title: z.string(),
  url: z.string(),
  source: z.string(),
  passage_id: z.string(),
  /** Words of the passage that carry the claim, letter by letter. */
  quote: z.string(),
  /** True where the quote was found to carry the claim; false also where claims are not checked (`enable_verification`). */
  checked: z.boolean(),
});
export type Citation = z.infer<typeof Citation>;

/** How many claims the report makes with a citation, and how many of them hold. */
export const Verification = z.object({
  claims: z.int().nonnegative(),
  supported: z.int().nonnegative(),
  unsupported: z.int().nonnegative(),
});
export type Verification = z.infer<typeof Verification>;

/** What a strategy preset changes in the work (`config/research_strategies.yaml`). */
export const Strategy = z.strictObject({
  /** Most questions made of a plan. */
  max_questions: z.int().min(1).max(50),
  /** Questions worked on at the same time. */
  max_concurrent_agents: z.int().min(1).max(20),
  /** Most passages read per question. */
  passages_per_question: z.int().min(1).max(50),
  /** Rounds of search per question: a further one widens the search when the first found too little. */
  max_iterations: z.int().min(1).max(50),
  /** Checks every citation against its passage and marks what does not hold. */
  enable_verification: z.boolean(),
});
export type Strategy = z.infer<typeof Strategy>;
export const StrategyPresets = z.record(StrategyName, Strategy);
export type StrategyPresets = z.infer<typeof StrategyPresets>;
