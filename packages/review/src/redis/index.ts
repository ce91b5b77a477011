export { idempotencyKey, type ReviewKeys, reviewKeys } from './keys.ts';
export { createFeedbackLock, type LockOptions } from './lock.ts';
export {
  type CommitResult,
  type Loaded,
  type OpenReview,
  ReviewStore,
  type StoredBody,
} from './store.ts';
