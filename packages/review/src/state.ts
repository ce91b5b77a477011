import {
  Intent,
  Owner,
  type ReviewBody,
  ReviewStatus,
  Round,
  Sha256,
  Timestamp,
  type WorkflowId,
} from '@plangate/contracts';
import { z } from 'zod';

/** A decision of a person that ends the review; who, when, and on which plan. */
export const Decision = z.object({
  /** Id of the command that made it; the signal, the workflow's history and the acknowledgement name it. */
  id: z.string().min(1),
  action: z.enum(['approve', 'reject', 'cancel']),
  by: z.string(),
  at: Timestamp,
  /** Version of the review after the decision. */
  version: z.int().positive(),
  /** SHA-256 of the plan decided on; `""` where there was none (cancel). */
  plan_sha256: z.union([Sha256, z.literal('')]),
  reason: z.string().optional(),
});
export type Decision = z.infer<typeof Decision>;

/** One text that was, or is, the plan. Kept beside the state, so that edits do not make the state grow. */
export const PlanVersion = z.object({
  version: z.int().positive(),
  text: z.string(),
  sha256: Sha256,
  author: z.enum(['assistant', 'user']),
  by: z.string().optional(),
  created_at: Timestamp,
});
export type PlanVersion = z.infer<typeof PlanVersion>;

/** The format that this code writes; a state of another one is not touched. */
export const STATE_FORMAT = 1;

/** The whole state of a review as stored; every change raises `version` by one. */
export const ReviewState = z.object({
  format: z.literal(STATE_FORMAT),
  workflow_id: z.string(),
  owner: Owner.nullable(),
  query: z.string(),
  status: ReviewStatus,
  /** Plans that the model made so far; 1 = the first. */
  round: z.int().nonnegative(),
  version: z.int().positive(),
  /** Version of the last change other than `extend`: what a feedback in flight depends on. */
  content_version: z.int().positive(),
  intent: z.union([Intent, z.literal('')]),
  current_plan: z.string(),
  plan_version: z.int().nonnegative(),
  plan_sha256: z.union([Sha256, z.literal('')]),
  research_brief: z.string().optional(),
  rounds: z.array(Round),
  /** Feedbacks allowed. */
  max_rounds: z.int().positive(),
  created_at: Timestamp,
  expires_at: Timestamp,
  decision: Decision.nullable(),
});
export type ReviewState = z.infer<typeof ReviewState>;

/** Feedbacks that were answered so far: the first plan needs none. */
export function feedbacksUsed(state: ReviewState): number {
  return Math.max(0, state.round - 1);
}

/** What clients see of a review (contract/plan-review.md §2.1). */
export function publicBody(state: ReviewState): ReviewBody {
  const { decision } = state;
  return {
    status: state.status,
    round: state.round,
    version: state.version,
    current_plan: state.current_plan,
    rounds: state.rounds,
    query: state.query,
    intent: state.intent,
    created_at: state.created_at,
    expires_at: state.expires_at,
    max_rounds: state.max_rounds,
    feedbacks_left: Math.max(0, state.max_rounds - feedbacksUsed(state)),
    plan_version: state.plan_version,
    plan_sha256: state.plan_sha256,
    ...(decision
      ? {
          decision: {
            action: decision.action,
            by: decision.by,
            at: decision.at,
            ...(decision.reason ? { reason: decision.reason } : {}),
          },
        }
      : {}),
  };
}

/** What is known of a task before its review exists: enough to write a closed one. */
export interface ReviewOrigin {
  workflowId: WorkflowId;
  owner: Owner;
  query: string;
  maxRounds: number;
}
