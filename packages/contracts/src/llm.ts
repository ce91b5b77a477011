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
export const REPORT_LIMIT_BYTES = 4 * 1024 * 1024;

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

/** Name of a tool as all providers take it. */
export const ToolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

/** A tool that a model may call. */
export const ToolSchema = z.object({
  name: ToolName,
  description: z.string(),
  /** JSON Schema of the arguments, an object. */
  parameters: z.looseObject({ type: z.literal('object') }),
});
export type ToolSchema = z.infer<typeof ToolSchema>;

/** A model's wish to call a tool. `args` is the text that it wrote, which may be no JSON at all. */
export const ChatToolCall = z.object({ id: z.string(), name: z.string(), args: z.string() });
export type ChatToolCall = z.infer<typeof ChatToolCall>;

/** One message of a conversation with tools; a `tool` message is the result of exactly one call. */
export const ChatMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    tool_calls: z.array(ChatToolCall).default([]),
  }),
  z.object({
    role: z.literal('tool'),
    tool_call_id: z.string(),
    name: z.string(),
    content: z.string(),
    status: z.enum(['success', 'error']).default('success'),
  }),
]);
export type ChatMessage = z.infer<typeof ChatMessage>;

/** `POST /agent/chat`: the next message of a model that may call tools (`contract/tool-approval.md §4`). */
export const ChatRequest = ModelChoice.extend({
  messages: z.array(ChatMessage).min(1),
  tools: z.array(ToolSchema),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** Longest text in bytes of one call's arguments that is taken from a model. */
export const TOOL_ARGS_LIMIT_BYTES = 64 * 1024;
/** Most calls that a model may ask for in one message. */
export const TOOL_CALLS_LIMIT = 64;

export const ChatAnswer = ModelUsage.extend({
  /** `""` where the model only calls tools. */
  content: z
    .string()
    .transform(cleanText)
    .refine((text) => utf8Bytes(text) <= MODEL_TEXT_LIMIT_BYTES, 'the model gave too much text'),
  tool_calls: z
    .array(ChatToolCall.refine(({ args }) => utf8Bytes(args) <= TOOL_ARGS_LIMIT_BYTES, 'arguments too long'))
    .max(TOOL_CALLS_LIMIT),
}).refine(
  ({ content, tool_calls }) => tool_calls.length > 0 || !isBlank(content),
  'the model gave neither text nor a tool call',
);
export type ChatAnswer = z.infer<typeof ChatAnswer>;
