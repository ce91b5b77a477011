import { type Owner, WorkflowId } from '@plangate/contracts';
import { readStored } from '@plangate/redis';
import type { Redis } from 'ioredis';
import type { TaskSummary } from '../record.ts';
import { SessionSums, type SessionTotals, shareOf, standsStill, totalsOf } from '../session-totals.ts';
import { ownerKeys } from './keys.ts';
import { readSummaries } from './record-fields.ts';
import { scripts } from './scripts.ts';

/** Tasks of each end that are read, so that one which cannot be read does not hide the end. */
const ENDS = 2;
/** Tasks that one call adds to the sums. */
const BATCH = 500;

/** `mayHaveExpired`: how many of the session's tasks are old enough for it. */
export interface ReadTotals {
  totals: SessionTotals;
  mayHaveExpired: number;
}

/**
 * What the tasks of a session come to, for the price of those that run or ended a moment ago: the others stand in
 * sums. A session that has none yet is read once as a whole.
 * @param now ms since 1970, on the clock of the records
 * @param expiredBefore ms since 1970: a record created later than this cannot have expired yet
 */
export async function readTotals(
  redis: Redis,
  owner: Owner,
  sessionId: string,
  { now, expiredBefore }: { now: number; expiredBefore: number },
): Promise<ReadTotals> {
  const of = ownerKeys(owner);
  const keys = [of.sessionTasks(sessionId), of.sessionUnsummed(sessionId), of.sessionSums(sessionId)];
  const reply = (await scripts.openSums(redis, keys, [expiredBefore, ENDS])) as [number, ...string[][]];
  const [mayHaveExpired, fields = [], rest = [], first = [], last = []] = reply;
  const sums = readStored(of.sessionSums(sessionId), () => SessionSums.parse(hashOf(fields)));

  const ids = [...new Set([...first, ...rest, ...last])].map((id) => WorkflowId.parse(id));
  const read = new Map((await readSummaries(redis, ids)).map((task) => [task.task_id as string, task]));
  const readable = (some: string[]) => some.flatMap((id) => read.get(id) ?? []);
  const unsummed = readable(rest);
  const still = unsummed.filter((task) => standsStill(task, now));
  for (let at = 0; at < still.length; at += BATCH) {
    await scripts.addToSums(redis, keys, still.slice(at, at + BATCH).flatMap(argumentsOf));
  }
  return {
    mayHaveExpired,
    totals: {
      ...totalsOf(sums, unsummed),
      first: readable([...first, ...rest])[0] ?? null,
      latest: readable([...rest, ...last]).at(-1) ?? null,
    },
  };
}

function argumentsOf(task: TaskSummary): (string | number)[] {
  const { successful, failed, tokens, cost, end } = shareOf(task);
  return [task.task_id, successful, failed, tokens, cost, end];
}

function hashOf(flat: string[]): Record<string, string> {
  return Object.fromEntries(flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1] ?? '']] : [])));
}
