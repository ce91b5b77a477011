import { TaskStatus, WorkflowId } from '@plangate/contracts';
import { isUnreadable } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { RECORD_VERSION } from '../record.ts';
import { OPEN_TASKS, taskKey } from './keys.ts';
import { scripts } from './scripts.ts';

/** An entry of the index of open tasks. */
export interface OpenTask {
  id: WorkflowId;
  /** When the task entered the index, in ms since 1970; told back to {@link closeOpenTask}. */
  since: number;
}

/** What a sweep needs to know of a record before it asks anybody else. */
export type OpenState =
  | { state: 'absent' }
  /** Written by another version of Plangate, or broken: leave it alone. */
  | { state: 'unreadable' }
  | { state: 'read'; status: TaskStatus; ended: boolean; confirmed: boolean; kind: string };

/** One step of a walk over all open tasks; the walk is over when `cursor` is `'0'` again. May repeat an entry. */
export async function openTasks(
  redis: Redis,
  cursor: string,
  count: number,
): Promise<{ cursor: string; tasks: OpenTask[] }> {
  const [next, flat] = await redis.zscan(OPEN_TASKS, cursor, 'COUNT', count);
  const tasks: OpenTask[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    const id = WorkflowId.safeParse(flat[at]);
    if (id.success) tasks.push({ id: id.data, since: Number(flat[at + 1]) });
  }
  return { cursor: next, tasks };
}

/** The state of each record, in the order of the ids, in one round trip. */
export async function openStates(redis: Redis, ids: WorkflowId[]): Promise<OpenState[]> {
  const pipeline = redis.pipeline();
  for (const id of ids) {
    pipeline.exists(taskKey(id)).hmget(taskKey(id), 'v', 'status', 'completed_at', 'start_confirmed', 'kind');
  }
  const replies = (await pipeline.exec()) ?? [];
  return ids.map((_, at) => {
    const [exists, fields] = [replies[2 * at], replies[2 * at + 1]];
    const fault = exists?.[0] ?? fields?.[0];
    // One that cannot be read must not hide the others.
    if (isUnreadable(fault)) return { state: 'unreadable' };
    if (fault) throw fault;
    return exists?.[1] === 0 ? { state: 'absent' } : stateOf(fields?.[1] as (string | null)[]);
  });
}

function stateOf([version, status, completed, confirmed, kind]: (string | null)[]): OpenState {
  const read = TaskStatus.safeParse(status);
  if (version !== String(RECORD_VERSION) || !read.success) return { state: 'unreadable' };
  return {
    state: 'read',
    status: read.data,
    ended: completed !== null,
    confirmed: confirmed === '1',
    kind: kind ?? '',
  };
}

/** Takes a task out of the index; with `since` only when it has not entered again. True when it left. */
export async function closeOpenTask(redis: Redis, id: WorkflowId, since?: number): Promise<boolean> {
  if (since === undefined) return (await redis.zrem(OPEN_TASKS, id)) === 1;
  return (await scripts.closeOpen(redis, [OPEN_TASKS], [id, since])) === 1;
}

/** The replies of a pipeline of HMGETs, `[]` where the key holds something else; another fault is thrown. */
export async function pipelined(pipeline: ReturnType<Redis['pipeline']>): Promise<(string | null)[][]> {
  const replies = (await pipeline.exec()) ?? [];
  return replies.map(([error, values]) => {
    if (isUnreadable(error)) return [];
    if (error) throw error;
    return values as (string | null)[];
  });
}
