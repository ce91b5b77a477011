import { type Owner, type TaskStatus, WorkflowId } from '@plangate/contracts';
import type { Redis } from 'ioredis';
import type { TaskRecord, TaskSummary } from '../record.ts';
import { sessionTitle } from '../session-title.ts';
import { ownerKeys, taskKey } from './keys.ts';
import { pipelined } from './open-tasks.ts';
import { scripts } from './scripts.ts';
import { fromSummary, SUMMARY_FIELDS, UnreadableRecordError } from './stored-record.ts';

export interface TaskListQuery {
  limit: number;
  offset: number;
  status?: TaskStatus;
  sessionId?: string;
}

/** Ids looked at in one round trip. */
const BATCH = 500;

/** Puts a task into its owner's lists and its session; the same again changes nothing. */
export async function indexTask(redis: Redis, record: TaskRecord): Promise<void> {
  const { owner, session_id } = record;
  await scripts.indexTask(redis, listKeys(owner, session_id), [
    record.task_id,
    Date.parse(record.created_at),
    record.created_at,
    session_id,
    owner.user,
    sessionTitle(record.query),
  ]);
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
  return [keys.tasks, keys.sessions, keys.session(sessionId), keys.sessionTasks(sessionId)];
}

async function readIds(redis: Redis, list: string): Promise<WorkflowId[]> {
  return (await redis.zrevrange(list, 0, -1)).map((id) => WorkflowId.parse(id));
}

/** Only entries old enough to have expired are looked at: a younger one may be in the making. */
async function pruneExpired(redis: Redis, list: string, expiredBefore: number): Promise<void> {
  const old = (await redis.zrangebyscore(list, '-inf', expiredBefore)).map((id) => WorkflowId.parse(id));
  const versions = await readFields(redis, old, ['v']);
  const gone = old.filter((_, at) => versions[at]?.[0] === null);
  if (gone.length > 0) await redis.zrem(list, ...gone);
}

async function withStatus(redis: Redis, ids: WorkflowId[], status: TaskStatus): Promise<WorkflowId[]> {
  const statuses = await readFields(redis, ids, ['status']);
  return ids.filter((_, at) => statuses[at]?.[0] === status);
}

async function readSummaries(redis: Redis, ids: WorkflowId[]): Promise<TaskSummary[]> {
  const rows = await readFields(redis, ids, SUMMARY_FIELDS);
  return ids.flatMap((id, at) => {
    try {
      return fromSummary(id, rows[at] ?? []) ?? [];
    } catch (error) {
      // A record of another version must not take the whole list away; a read of that task alone says what it is.
      if (error instanceof UnreadableRecordError) return [];
      throw error;
    }
  });
}

async function readFields(
  redis: Redis,
  ids: WorkflowId[],
  fields: readonly string[],
): Promise<(string | null)[][]> {
  const rows: (string | null)[][] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const pipeline = redis.pipeline();
    for (const id of ids.slice(at, at + BATCH)) pipeline.hmget(taskKey(id), ...fields);
    rows.push(...(await pipelined(pipeline)));
  }
  return rows;
}
