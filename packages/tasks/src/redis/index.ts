export { type Draft, DraftStore } from './drafts.ts';
export { type EndTaskParts, endTask } from './end-task.ts';
export { type Finding, FindingStore } from './findings.ts';
export { type OwnerKeys, ownerKeys, taskKey } from './keys.ts';
export type { OpenState, OpenTask } from './open-tasks.ts';
export { type SessionPage, SessionStore } from './sessions.ts';
export {
  type ApprovedContext,
  type ControlledBy,
  type Created,
  type EndOutcome,
  type StandingEnd,
  TaskStore,
  type TaskStoreOptions,
  type UpdateOutcome,
} from './store.ts';
export type { TaskListQuery } from './task-lists.ts';
