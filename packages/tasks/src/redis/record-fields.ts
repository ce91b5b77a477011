import type { WorkflowId } from '@plangate/contracts';
import { UnreadableStateError } from '@plangate/redis';
import type { Redis } from 'ioredis';
import type { TaskSummary } from '../record.ts';
import { taskKey } from './keys.ts';
import { pipelined } from './open-tasks.ts';
import { fromSummary, SUMMARY_FIELDS } from './stored-record.ts';

/** Ids looked at in one round trip. */
const BATCH = 500;

/** The summaries of those tasks that have a record which can be read, in the order of the ids. */
export async function readSummaries(redis: Redis, ids: WorkflowId[]): Promise<TaskSummary[]> {
  const rows = await readFields(redis, ids, SUMMARY_FIELDS);
  return ids.flatMap((id, at) => {
    try {
      return fromSummary(id, rows[at] ?? []) ?? [];
    } catch (error) {
      // A record of another version must not take the whole list away; a read of that task alone says what it is.
      if (error instanceof UnreadableStateError) return [];
      throw error;
    }
  });
}

/** These fields of each record, in the order of the ids; nulls where there is no record. */
export async function readFields(
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
