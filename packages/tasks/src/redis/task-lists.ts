import { type Owner, type TaskStatus, WorkflowId } from '@plangate/contracts';
import type { Redis } from 'ioredis';
import type { TaskRecord, TaskSummary } from '../record.ts';
import { sessionTitle } from '../session-title.ts';
import { ownerKeys } from './keys.ts';
import { pruneExpired, pruneSessions } from './prune.ts';
import { readFields, readSummaries } from './record-fields.ts';
import { scripts } from './scripts.ts';

export interface TaskListQuery {
  limit: number;
  offset: number;
  status?: TaskStatus;
  sessionId?: string;
}

/** How many entries that may have expired are looked at with each new task. */
const MOST_PRUNED = 20;

/**
 * Puts a task into its owner's lists and its session; the same again changes nothing. A few of the oldest entries
 * leave the lists where their records have expired, so that those of an owner who only ever submits do not grow.
 * @param expiredBefore ms since 1970: a record created later than this cannot have expired yet
 */
export async function indexTask(redis: Redis, record: TaskRecord, expiredBefore: number): Promise<void> {
  const { owner, session_id } = record;
  const [tasks, sessions] = (await scripts.indexTask(redis, listKeys(owner, session_id), [
    record.task_id,
    Date.parse(record.created_at),
    record.created_at,
    session_id,
    owner.user,
    sessionTitle(record.query),
    expiredBefore,
    MOST_PRUNED,
  ])) as [string[], string[]];
  if (tasks.length > 0) await pruneExpired(redis, ownerKeys(owner).tasks, expiredBefore, MOST_PRUNED);
  if (sessions.length > 0) await pruneSessions(redis, owner, expiredBefore, MOST_PRUNED);
}

/** Takes back what {@link indexTask} did for exactly this record. */
export async function unindexTask(redis: Redis, record: TaskRecord): Promise<void> {
  await scripts.unindexTask(redis, listKeys(record.owner, record.session_id), [
    record.task_id,
    Date.parse(record.created_at),
    record.session_id,
  ]);
}

/**
 * Tasks of exactly this owner, newest first, and how many there are in all. Ids whose record has expired
 * leave the list.
 * @param expiredBefore ms since 1970: a record created later than this cannot have expired yet
 */
export async function listTasks(
  redis: Redis,
  owner: Owner,
  query: TaskListQuery,
  expiredBefore: number,
): Promise<{ records: TaskSummary[]; totalCount: number }> {
  const keys = ownerKeys(owner);
  const list = query.sessionId === undefined ? keys.tasks : keys.sessionTasks(query.sessionId);
  await pruneExpired(redis, list, expiredBefore);
  const ids = await readIds(redis, list);
  const matching = query.status === undefined ? ids : await withStatus(redis, ids, query.status);
  const page = matching.slice(query.offset, query.offset + query.limit);
  return { records: await readSummaries(redis, page), totalCount: matching.length };
}

function listKeys(owner: Owner, sessionId: string): string[] {
  const keys = ownerKeys(owner);
  return [
    keys.tasks,
    keys.sessions,
    keys.session(sessionId),
    keys.sessionTasks(sessionId),
    keys.sessionUnsummed(sessionId),
    keys.sessionSums(sessionId),
  ];
}

async function readIds(redis: Redis, list: string): Promise<WorkflowId[]> {
  return (await redis.zrevrange(list, 0, -1)).map((id) => WorkflowId.parse(id));
}

async function withStatus(redis: Redis, ids: WorkflowId[], status: TaskStatus): Promise<WorkflowId[]> {
  const statuses = await readFields(redis, ids, ['status']);
  return ids.filter((_, at) => statuses[at]?.[0] === status);
}
