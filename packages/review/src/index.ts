export { refuseAccess } from './access.ts';
export { type AuditFault, findBrokenEntry, mergeChains, splitChains, verifyAudit } from './audit.ts';
export type { Command, HashedAnswer, HashedText } from './commands.ts';
export { diffPlans } from './diff.ts';
export { entityTags } from './entity-tags.ts';
export { ifMatchAllows } from './if-match.ts';
export {
  type Allowed,
  decide,
  isFinalRound,
  isWithdrawn,
  type Outcome,
  reviewNotFound,
  type Situation,
  type Transition,
  versionConflict,
} from './machine.ts';
export { retentionSeconds } from './retention.ts';
export { planApproved } from './review-events.ts';
export {
  Decision,
  feedbacksUsed,
  PlanVersion,
  publicBody,
  type ReviewOrigin,
  ReviewState,
  STATE_FORMAT,
} from './state.ts';
