import { type Owner, slotOf, type WorkflowId } from '@plangate/contracts';

/** Index of every task with something unfinished: ZSET id -> since when (ms). In a slot of its own. */
export const OPEN_TASKS = 'tasks:open';

/** Hash of one task's record, in the slot of its workflow. */
export function taskKey(id: WorkflowId): string {
  return `task:${slotOf(id)}`;
}

/** A finished result on its way to the end of its task. */
export function draftKey(id: WorkflowId): string {
  return `${taskKey(id)}:draft`;
}

/** What the questions of a running research have found: hash question id -> finding. */
export function findingsKey(id: WorkflowId): string {
  return `${taskKey(id)}:findings`;
}

/** The Redis names of what belongs to one owner; all share a slot, so that one script keeps them in step. */
export interface OwnerKeys {
  /** ZSET of the owner's tasks: id -> created (ms). */
  tasks: string;
  /** ZSET of the owner's sessions: id -> last activity (ms). */
  sessions: string;
  /** Hash of one session. */
  session: (sessionId: string) => string;
  /** ZSET of one session's tasks: id -> created (ms). */
  sessionTasks: (sessionId: string) => string;
  /** ZSET of those tasks of a session that are not in its sums: id -> created (ms). */
  sessionUnsummed: (sessionId: string) => string;
  /** Hash: sums over the other tasks of a session. */
  sessionSums: (sessionId: string) => string;
}

export function ownerKeys(owner: Owner): OwnerKeys {
  const slot = `{${encode(owner.tenant)}:${encode(owner.user)}}`;
  return {
    tasks: `tasks:of:${slot}`,
    sessions: `sessions:of:${slot}`,
    session: (id) => `session:${slot}:${id}`,
    sessionTasks: (id) => `session-tasks:${slot}:${id}`,
    sessionUnsummed: (id) => `session-unsummed:${slot}:${id}`,
    sessionSums: (id) => `session-sums:${slot}:${id}`,
  };
}

/** Finds the lists of all owners, for `SCAN`. */
export const OWNER_LISTS = '*s:of:{*}';

/** Whose such a list is; null for a name that is none. */
export function ownerOfList(key: string): Owner | null {
  const [, tenant, user] = /^(?:tasks|sessions):of:\{([^:{}]*):([^:{}]*)\}$/.exec(key) ?? [];
  if (tenant === undefined || user === undefined) return null;
  return { tenant: decodeURIComponent(tenant), user: decodeURIComponent(user) };
}

/** Names from credentials may hold any character: none of them may end the hash tag or shift the parts. */
function encode(part: string): string {
  return encodeURIComponent(part.toWellFormed());
}
