import {
  type Mode,
  type ModelChoice,
  type Owner,
  type Refusal,
  ResearchSettings,
  refuse,
  type Strategy,
  type StrategyName,
  type StrategyPresets,
  SubmitTaskBody,
  type TaskInput,
  type WorkflowId,
} from '@plangate/contracts';
import type { z } from 'zod';
import { readContextFlags, type TimeoutLimits } from './context-flags.ts';
import { shapeContext } from './context-shape.ts';
import { findMisplacedKey } from './guarded-keys.ts';

/** `research` makes a plan first; `answer` is one answer of a model. */
export type TaskKind = 'research' | 'answer';

export interface SubmissionLimits extends TimeoutLimits {
  /** Feedbacks that one review takes. */
  maxRounds: number;
}

/** A submission that keeps every rule of `contract/plan-review.md` §1. */
export interface Submission {
  query: string;
  /** Null: the caller named no session. */
  sessionId: string | null;
  context: Record<string, unknown>;
  mode: z.infer<typeof Mode>;
  kind: TaskKind;
  /** Null: nobody reviews the plan. */
  review: { timeoutSeconds: number; maxRounds: number } | null;
  strategyName: StrategyName;
  /** The preset, with what the caller set himself in its place. */
  strategy: Strategy;
  enableCitations: boolean;
  model: ModelChoice;
}

const DEFAULT_MODE = 'standard';
const DEFAULT_STRATEGY: StrategyName = 'standard';
const BODY_FIELDS: ReadonlySet<string> = new Set(Object.keys(SubmitTaskBody.shape));

/**
 * The submission in a request body, or the 400 with the contract's exact text. Rules are asked in this order:
 * shape of the body, fields, context's size, misspelt keys, switches of the review, settings in the context.
 *
 * Only `force_research` or a review makes a task research: a strategy alone sets how research works, it does
 * not ask for it.
 */
export function readSubmission(
  body: unknown,
  limits: SubmissionLimits,
  presets: StrategyPresets,
): { ok: true; submission: Submission } | Refusal {
  const parsed = SubmitTaskBody.safeParse(body);
  if (!parsed.success) return fieldRefusal(parsed.error);
  const fields = parsed.data;
  const given = body as { context?: Record<string, unknown> | null };
  const shaped = shapeContext(given.context ?? {});
  if (!shaped.ok) return shaped;
  const { context } = shaped;
  const misplaced = findMisplacedKey(given, context, BODY_FIELDS);
  if (misplaced) {
    const { key, meant } = misplaced;
    return refuse(400, 'unknown_key', `Unknown key '${key}' (did you mean 'context.${meant}'?)`);
  }
  const flags = readContextFlags(context, limits);
  if (!flags.ok) return flags;
  const settings = ResearchSettings.safeParse(context);
  if (!settings.success) return fieldRefusal(settings.error);

  const strategyName = fields.research_strategy ?? settings.data.research_strategy ?? DEFAULT_STRATEGY;
  const { reviewTimeoutSeconds } = flags;
  return {
    ok: true,
    submission: {
      query: fields.query,
      sessionId: fields.session_id ?? null,
      context,
      mode: fields.mode ?? DEFAULT_MODE,
      kind: flags.forceResearch ? 'research' : 'answer',
      review:
        reviewTimeoutSeconds === null
          ? null
          : { timeoutSeconds: reviewTimeoutSeconds, maxRounds: limits.maxRounds },
      strategyName,
      strategy: resolve(presets[strategyName], {
        max_concurrent_agents: fields.max_concurrent_agents ?? settings.data.max_concurrent_agents,
        max_iterations: fields.max_iterations ?? settings.data.max_iterations,
        enable_verification: fields.enable_verification ?? flags.enableVerification,
      }),
      enableCitations: flags.enableCitations ?? true,
      model: modelChoice(fields),
    },
  };
}

/** What the workflow of this submission is started with. */
export function toTaskInput(submission: Submission, workflowId: WorkflowId, owner: Owner): TaskInput {
  const { review } = submission;
  return {
    workflow_id: workflowId,
    owner,
    query: submission.query,
    context: submission.context,
    review: review && { timeout_seconds: review.timeoutSeconds, max_rounds: review.maxRounds },
    strategy_name: submission.strategyName,
    strategy: submission.strategy,
    enable_citations: submission.enableCitations,
    model: submission.model,
  };
}

function resolve(
  preset: Strategy,
  overrides: { [K in keyof Strategy]?: Strategy[K] | null | undefined },
): Strategy {
  const set = Object.entries(overrides).filter(([, value]) => value !== null && value !== undefined);
  return { ...preset, ...(Object.fromEntries(set) as Partial<Strategy>) };
}

function modelChoice(fields: SubmitTaskBody): ModelChoice {
  return {
    ...(fields.model_tier ? { model_tier: fields.model_tier } : {}),
    ...(fields.model_override ? { model_override: fields.model_override } : {}),
    ...(fields.provider_override ? { provider_override: fields.provider_override } : {}),
  };
}

/** `docs/errors.md` tells a missing query from a long one. */
const QUERY_CODES: Record<string, string> = {
  'Query is required': 'query_required',
  'Query exceeds 10000 characters': 'query_too_long',
};

function fieldRefusal(error: z.ZodError): Refusal {
  const text = error.issues[0]?.message ?? 'Invalid request body';
  const field = error.issues[0]?.path[0];
  const named = text === 'Invalid request body' || field === undefined ? 'body' : String(field);
  return refuse(400, QUERY_CODES[text] ?? `invalid_${named}`, text);
}
