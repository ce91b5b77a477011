/**
 * The core of tool approval: what a thread is and how it goes on, as pure functions over plain JSON. Workflow code
 * imports it: no Node built-in, no schema library, no I/O, no clock, no randomness of its own.
 */
export { applyDecisions, checkDecisions, requireReview } from './apply-decisions.ts';
export { type ReadDecision, readResume, validateDecisions } from './decisions.ts';
export * from './errors.ts';
export { canonicalJson, isExactNumber, type ReadArguments, readArguments, sameJson } from './json-args.ts';
export { answerOf, type CallOrder, type NextStep, nextStep } from './next-step.ts';
export { buildReviewRequest } from './payload.ts';
export { refusalOf } from './permit.ts';
export { checkMessage, receiveMessage } from './receive-message.ts';
export { type Gate, type ModelCall, type ModelReply, receiveReply } from './receive-reply.ts';
export { type CallResult, claimCall, recordInterruption, recordResult } from './run-call.ts';
export {
  type CallRecord,
  DEFAULT_STEP_LIMIT,
  type ModelMessage,
  newThread,
  type PendingReview,
  type Phase,
  STATE_VERSION,
  type ThreadMessage,
  type ThreadState,
} from './state/thread-state.ts';
export {
  ALLOWED_DECISIONS,
  type ArgumentFault,
  failedText,
  interruptedText,
  invalidArgumentsText,
  NO_DECISION,
  notApprovedText,
  REJECTED_BY_USER_MESSAGE,
  STEP_LIMIT_MESSAGE,
  unknownToolText,
} from './texts.ts';
