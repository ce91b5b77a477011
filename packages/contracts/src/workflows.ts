/** What gateway and worker say to each other; the names are in `signals.ts`. */
import { z } from 'zod';
import { Owner } from './ids.ts';
import { ModelChoice } from './llm.ts';
import { Strategy, StrategyName } from './research.ts';

/** Name of the task queue unless the settings say otherwise. */
export const DEFAULT_TASK_QUEUE = 'plangate';

/** Input of both workflows. The text of the query travels with it (40 KB at most), larger things by reference. */
export const TaskInput = z.object({
  workflow_id: z.string(),
  owner: Owner,
  query: z.string(),
  context: z.record(z.string(), z.unknown()),
  /** Null: nobody reviews the plan. */
  review: z.object({ timeout_seconds: z.int().positive(), max_rounds: z.int().positive() }).nullable(),
  strategy_name: StrategyName,
  strategy: Strategy,
  enable_citations: z.boolean(),
  model: ModelChoice,
});
export type TaskInput = z.infer<typeof TaskInput>;

/** Payload of {@link approvalSignal}. It only wakes: the decision itself is read from the store. */
export const ApprovalSignal = z.object({
  approved: z.boolean(),
  decision_id: z.string(),
  version: z.int(),
  plan_sha256: z.string(),
  approved_by: z.string(),
  reason: z.string().optional(),
});
export type ApprovalSignal = z.infer<typeof ApprovalSignal>;

/** Payload of the cancel signal; `decision_id` where a review was closed by it first. */
export const CancelSignal = z.object({
  decision_id: z.string().optional(),
  reason: z.string(),
  by: z.string(),
});
export type CancelSignal = z.infer<typeof CancelSignal>;

/** Payload of the pause and resume signals. */
export const PauseSignal = z.object({ reason: z.string(), by: z.string() });
export type PauseSignal = z.infer<typeof PauseSignal>;
