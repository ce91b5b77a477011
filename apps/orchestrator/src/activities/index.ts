import { answerActivities } from './answer.ts';
import { controlActivities } from './control.ts';
import { lifecycleActivities } from './lifecycle.ts';
import type { Parts } from './parts.ts';
import { planActivities } from './plan.ts';
import { researchActivities } from './research.ts';
import { reviewActivities } from './review.ts';

export type { Parts } from './parts.ts';
export type { ReviewReading } from './review.ts';
export type { ChosenPlan, OpenedReview, WorkflowEnd } from './types.ts';

/** All activities of the worker. */
export function createActivities(parts: Parts) {
  return {
    ...lifecycleActivities(parts),
    ...controlActivities(parts),
    ...planActivities(parts),
    ...reviewActivities(parts),
    ...researchActivities(parts),
    ...answerActivities(parts),
  };
}

export type Activities = ReturnType<typeof createActivities>;
