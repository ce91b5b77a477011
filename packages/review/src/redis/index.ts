export { idempotencyKey, type ReviewKeys, reviewKeys } from './keys.ts';
export { createFeedbackLock, type LockOptions } from './lock.ts';
export {
  type CommitResult,
  type IdempotencyRecord,
  type Loaded,
  type OpenReview,
  ReviewStore,
  type StoredBody,
  UnreadableReviewError,
} from './store.ts';
