import { z } from 'zod';
import { Id } from './ids.ts';
import { Reason } from './limited-text.ts';
import { Citation, STRATEGIES, StrategyName, Verification } from './research.ts';
import { cleanText, codePoints, isBlank } from './text.ts';

const QUERY_LIMIT_CHARACTERS = 10_000;
const INVALID_BODY = 'Invalid request body';
const CONTEXT_TEXT =
  '`force_research`: a research task. `require_review`: its plan waits for a person (`review_plan: "manual"` means ' +
  'the same). `review_timeout`: how many seconds it waits for one. `enable_citations` and the research ' +
  'settings of the body may stand here too. Everything else is handed to the planner.';

export const MODES = ['simple', 'standard', 'complex', 'supervisor'] as const;
export const Mode = z.enum(MODES);
export const MODEL_TIERS = ['small', 'medium', 'large'] as const;
export const ModelTier = z.enum(MODEL_TIERS);

/** One of a few words: another type of value is a wrong body, another word names the words allowed. */
function choice<const T extends readonly [string, ...string[]]>(name: string, allowed: T) {
  const unknown = `Invalid ${name} (allowed: ${allowed.join(', ')})`;
  return z.enum(allowed, { error: ({ input }) => (typeof input === 'string' ? unknown : INVALID_BODY) });
}

function integer(name: string, low: number, high: number) {
  const error = `${name} out of range (${low}..${high})`;
  return z.number({ error: INVALID_BODY }).int({ error }).min(low, { error }).max(high, { error });
}

/** The settings that may stand at the top level of a submission or in its context, with the same checks. */
export const ResearchSettings = z.object({
  research_strategy: choice('research_strategy', STRATEGIES).nullish(),
  max_concurrent_agents: integer('max_concurrent_agents', 1, 20).nullish(),
  max_iterations: integer('max_iterations', 1, 50).nullish(),
});

/** Body of `POST /api/v1/tasks`; the message of the first issue is the contract's exact text. */
export const SubmitTaskBody = z.object(
  {
    query: z
      .string({ error: 'Query is required' })
      .transform(cleanText)
      .refine((text) => !isBlank(text), { error: 'Query is required', abort: true })
      .refine((text) => codePoints(text) <= QUERY_LIMIT_CHARACTERS, {
        error: 'Query exceeds 10000 characters',
      })
      .meta({ description: 'What is to be found out or done.', maxLength: QUERY_LIMIT_CHARACTERS }),
    session_id: z
      .string({ error: INVALID_BODY })
      .refine((id) => Id.safeParse(id).success, { error: 'Invalid session_id format' })
      .nullish()
      .describe('An earlier session to go on with; left out, a new one begins.'),
    context: z.record(z.string(), z.unknown(), { error: INVALID_BODY }).nullish().describe(CONTEXT_TEXT),
    mode: choice('mode', MODES).nullish(),
    model_tier: choice('model_tier', MODEL_TIERS).nullish(),
    model_override: z.string({ error: INVALID_BODY }).max(200, { error: INVALID_BODY }).nullish(),
    provider_override: z.string({ error: INVALID_BODY }).max(200, { error: INVALID_BODY }).nullish(),
    ...ResearchSettings.shape,
    enable_verification: z.boolean({ error: INVALID_BODY }).nullish(),
  },
  { error: INVALID_BODY },
);
export type SubmitTaskBody = z.infer<typeof SubmitTaskBody>;

/** 200 of `POST /api/v1/tasks`. */
export const SubmitTaskAnswer = z.object({
  task_id: z.string(),
  status: z.literal('STATUS_CODE_OK'),
  message: z.string(),
  created_at: z.iso.datetime(),
  workflow_id: z.string(),
  session_id: z.string(),
});

/** 201 of `POST /api/v1/tasks/stream`. */
export const StreamTaskAnswer = z.object({
  workflow_id: z.string(),
  task_id: z.string(),
  stream_url: z.string(),
});

/** Every status that a task can show; clients know no other. */
export const TaskStatus = z.enum([
  'TASK_STATUS_QUEUED',
  'TASK_STATUS_RUNNING',
  'TASK_STATUS_COMPLETED',
  'TASK_STATUS_FAILED',
  'TASK_STATUS_CANCELLED',
  'TASK_STATUS_TIMEOUT',
  'TASK_STATUS_PAUSED',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const TokenUsage = z.object({
  input_tokens: z.int().nonnegative(),
  output_tokens: z.int().nonnegative(),
  total_tokens: z.int().nonnegative(),
  estimated_cost: z.number().nonnegative(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

/** `metadata` of a research result. */
export const ResearchMetadata = z.object({
  citations: z.array(Citation),
  plan_sha256: z.string(),
  plan_version: z.int(),
  approved_by: z.string(),
  strategy: StrategyName,
  provider: z.string(),
  verification: Verification,
});
export type ResearchMetadata = z.infer<typeof ResearchMetadata>;

/**
 * `metadata` of a task: {@link ResearchMetadata} once a report is there, `citations` alone beside an answer that has
 * sources, `reason` where no plan could be made; empty until then.
 */
export const TaskMetadata = z.looseObject({
  ...ResearchMetadata.partial().shape,
  reason: z.string().optional(),
});
export type TaskMetadata = z.infer<typeof TaskMetadata>;

/** Body of `GET /api/v1/tasks/{id}`. */
export const TaskBody = z.object({
  task_id: z.string(),
  workflow_id: z.string(),
  status: TaskStatus,
  result: z.string(),
  error: z.string().optional(),
  error_message: z.string().optional(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  completed_at: z.iso.datetime().optional(),
  query: z.string(),
  session_id: z.string(),
  mode: z.string(),
  context: z.record(z.string(), z.unknown()),
  model_used: z.string(),
  provider: z.string(),
  usage: TokenUsage,
  metadata: TaskMetadata,
});
export type TaskBody = z.infer<typeof TaskBody>;

/** Body of `GET /api/v1/tasks`. */
export const TaskList = z.object({
  tasks: z.array(
    z.object({
      task_id: z.string(),
      query: z.string(),
      status: TaskStatus,
      mode: z.string(),
      created_at: z.iso.datetime(),
      completed_at: z.iso.datetime().optional(),
      total_token_usage: z.object({
        total_tokens: z.int(),
        cost_usd: z.number(),
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
      }),
    }),
  ),
  total_count: z.int(),
});
export type TaskList = z.infer<typeof TaskList>;

/** Body of `GET /api/v1/tasks/{id}/control-state`; all fields are always present. */
export const ControlState = z.object({
  is_paused: z.boolean(),
  is_cancelled: z.boolean(),
  paused_at: z.string(),
  pause_reason: z.string(),
  paused_by: z.string(),
  cancel_reason: z.string(),
  cancelled_by: z.string(),
});
export type ControlState = z.infer<typeof ControlState>;
export const NO_CONTROL: ControlState = {
  is_paused: false,
  is_cancelled: false,
  paused_at: '',
  pause_reason: '',
  paused_by: '',
  cancel_reason: '',
  cancelled_by: '',
};

/** Body of `POST …/cancel|pause|resume`, which may be absent. */
export const ControlBody = z.object({ reason: Reason }, { error: INVALID_BODY });

/** 202 of cancel, pause and resume. */
export const ControlAnswer = z.object({ success: z.literal(true), message: z.string(), task_id: z.string() });
