export { createReview, readReview } from './create.ts';
export {
  approvePlan,
  cancelReview,
  closeReview,
  type DecidePorts,
  type DecideRequest,
  editPlan,
  extendReview,
  rejectPlan,
} from './decide.ts';
export { type Delivery, deliverDecision } from './deliver.ts';
export { type FeedbackPorts, type FeedbackRequest, submitFeedback } from './feedback.ts';
export { letReviewGo } from './let-go.ts';
export { Pace } from './pace.ts';
export type {
  Caller,
  Deliver,
  FeedbackLock,
  IdempotencyRecord,
  LockAttempt,
  Planner,
  Result,
  Store,
} from './ports.ts';
export { settleDecision } from './settle.ts';
export { sha256 } from './sha256.ts';
