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
export { expireFinishedReview } from './expire.ts';
export { type FeedbackPorts, type FeedbackRequest, submitFeedback } from './feedback.ts';
export { Pace } from './pace.ts';
export type {
  Caller,
  CommitResult,
  Deliver,
  FeedbackLock,
  IdempotencyRecord,
  Loaded,
  LockAttempt,
  Planner,
  RefusalChain,
  Result,
  Step,
  Store,
} from './ports.ts';
export { settleDecision } from './settle.ts';
export { sha256 } from './sha256.ts';
