/** What activities and workflows say to each other. Large texts do not travel: they are read from the stores. */
import type { TaskEnd } from '@plangate/tasks';

/** The plan that is executed. With a review it is the approved one, known by its hash. */
export interface ChosenPlan {
  text: string;
  sha256: string;
  /** Version of the review at which the text became the plan; 0 without a review. */
  version: number;
  /** User who approved it; `""` without a review. */
  approved_by: string;
}

export interface OpenedReview {
  status: string;
  /** RFC 3339. */
  expires_at: string;
}

/** An end as the workflow knows it: a result stays in the store until the end is written. */
export type WorkflowEnd = Exclude<TaskEnd, { kind: 'completed' }> | { kind: 'completed' };
