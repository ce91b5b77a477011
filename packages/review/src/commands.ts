import type { PlanAnswer } from '@plangate/contracts';
import type { Decision, ReviewOrigin } from './state.ts';

/** A text with its SHA-256, computed by the caller so that the rules stay free of I/O. */
export interface HashedText {
  text: string;
  sha256: string;
}

/** What a model answered, and the hash of its plan where it made one. */
export interface HashedAnswer {
  answer: PlanAnswer;
  /** SHA-256 of what would become the plan: `answer.plan ?? answer.message`. */
  sha256: string;
}

interface Conditional {
  /** If-Match header; absent: unconditional. */
  ifMatch?: string | null | undefined;
  by: string;
}

/** Everything that can happen to a review. Only people's commands carry a condition. */
export type Command =
  | ({ type: 'create'; origin: ReviewOrigin; timeoutSeconds: number } & HashedAnswer)
  | ({ type: 'begin_feedback' } & Conditional)
  | ({ type: 'commit_feedback'; message: string; basis: number; by: string } & HashedAnswer)
  | ({ type: 'edit'; plan: HashedText } & Conditional)
  | ({
      type: 'approve';
      decisionId: string;
      /** SHA-256 of the plan that this command was first decided on; set when it is decided again. */
      boundTo?: string | undefined;
    } & Conditional)
  | ({ type: 'reject'; decisionId: string; reason?: string | undefined } & Conditional)
  | ({ type: 'extend'; seconds: number; maxSecondsAhead: number } & Conditional)
  | { type: 'cancel'; decisionId: string; by: string; reason?: string | undefined; origin: ReviewOrigin }
  | { type: 'close'; deadline: string | null; origin: ReviewOrigin }
  | { type: 'withdraw'; decisionId: string }
  | { type: 'settle'; decision: Decision; plan: HashedText };

export type CommandType = Command['type'];
