export { CONTEXT_LIMIT_BYTES, CONTEXT_LIMIT_DEPTH } from './context-shape.ts';
export { type ControlAction, decideControl, isEnded } from './control.ts';
export { type DescribedEnd, describeEnd, type TaskEnd } from './end.ts';
export {
  type NewTask,
  newRecord,
  RECORD_VERSION,
  TaskRecord,
  TaskSummary,
  toListItem,
  toTaskBody,
} from './record.ts';
export { sessionTitle } from './session-title.ts';
export {
  eventsOfTurn,
  SessionRecord,
  type SessionWithTotals,
  toHistoryItem,
  toSessionBody,
  toSessionSummary,
  toTurn,
  type WorkCounts,
  workCounter,
} from './sessions.ts';
export {
  readSubmission,
  type Submission,
  type SubmissionLimits,
  type TaskKind,
  toTaskInput,
} from './submission.ts';
