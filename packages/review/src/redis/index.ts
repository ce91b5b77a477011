export { idempotencyKey, type ReviewKeys, reviewKeys } from './keys.ts';
export { createFeedbackLock, type LockOptions } from './lock.ts';
export type { OpenReview } from './open-reviews.ts';
export type { StoredBody } from './review-hash.ts';
export { ReviewStore, type ReviewStoreOptions } from './store.ts';
