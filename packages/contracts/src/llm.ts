import { z } from 'zod';
import { Citation, Passage, Question, StrategyName } from './research.ts';
import { Intent, Round } from './review.ts';
import { cleanText, isBlank, utf8Bytes } from './text.ts';

/** Longest answer of a model that is taken as one (§5); a longer one is a failed call. */
export const MODEL_TEXT_LIMIT_BYTES = 32 * 1024;

/** A model's text: cleaned, not blank, of bounded length. */
export const ModelText = z
  .string()
  .transform(cleanText)
  .refine((text) => !isBlank(text), 'the model gave no text')
  .refine((text) => utf8Bytes(text) <= MODEL_TEXT_LIMIT_BYTES, 'the model gave too much text');

/** Which model a request wants: a tier, or a provider and model by name. */
export const ModelChoice = z.object({
  model_tier: z.enum(['small', 'medium', 'large']).optional(),
  model_override: z.string().optional(),
  provider_override: z.string().optional(),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** What every answer of the service says of the call that made it. */
export const ModelUsage = z.object({
  model: z.string(),
  provider: z.string(),
  input_tokens: z.int().nonnegative(),
  output_tokens: z.int().nonnegative(),
});
export type ModelUsage = z.infer<typeof ModelUsage>;

const Context = z.record(z.string(), z.unknown());

/** `POST /agent/research-plan`: `current_round` 0 asks for the first plan, n for the answer to the n-th feedback. */
export const PlanRequest = ModelChoice.extend({
  query: z.string().min(1),
  context: Context,
  conversation: z.array(Round),
  current_plan: z.string(),
  is_final_round: z.boolean().optional(),
  current_round: z.int().nonnegative(),
  max_rounds: z.int().positive(),
});
export type PlanRequest = z.infer<typeof PlanRequest>;

export const PlanAnswer = ModelUsage.extend({
  message: ModelText,
  intent: Intent,
  /** The new plan, or null where the answer leaves `current_plan` as it is. */
  plan: ModelText.nullable(),
  research_brief: z.string().transform(cleanText).optional(),
  round: z.int().nonnegative(),
});
export type PlanAnswer = z.infer<typeof PlanAnswer>;

/** `POST /agent/decompose`: the approved plan as questions that can be looked up one by one. */
export const DecomposeRequest = ModelChoice.extend({
  query: z.string().min(1),
  context: Context,
  plan: z.string(),
  research_brief: z.string().optional(),
  max_questions: z.int().positive(),
});
export type DecomposeRequest = z.infer<typeof DecomposeRequest>;

export const DecomposeAnswer = ModelUsage.extend({ questions: z.array(Question).min(1) });
export type DecomposeAnswer = z.infer<typeof DecomposeAnswer>;

/** `POST /agent/write`: a report over numbered passages; `[n]` in the text cites passage n. */
export const WriteRequest = ModelChoice.extend({
  query: z.string().min(1),
  context: Context,
  plan: z.string(),
  research_brief: z.string().optional(),
  conversation: z.array(Round),
  strategy: StrategyName,
  sections: z.array(
    z.object({ question: Question, passages: z.array(Passage.extend({ n: z.int().positive() })) }),
  ),
});
export type WriteRequest = z.infer<typeof WriteRequest>;

/** Longest report in bytes that is taken from a model. */
export const REPORT_LIMIT_BYTES = 512 * 1024;

export const WriteAnswer = ModelUsage.extend({
  report: z
    .string()
    .transform(cleanText)
    .refine((text) => !isBlank(text), 'the model gave no text')
    .refine((text) => utf8Bytes(text) <= REPORT_LIMIT_BYTES, 'the model gave too much text'),
});
export type WriteAnswer = z.infer<typeof WriteAnswer>;

/** `POST /agent/answer`: one answer to a task that is not research. */
export const AnswerRequest = ModelChoice.extend({ query: z.string().min(1), context: Context });
export type AnswerRequest = z.infer<typeof AnswerRequest>;

export const AnswerAnswer = ModelUsage.extend({
  answer: ModelText,
  citations: z.array(Citation).optional(),
});
export type AnswerAnswer = z.infer<typeof AnswerAnswer>;
