import { type Owner, WorkflowId } from '@plangate/contracts';
import { isRedisUnavailable } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { OWNER_LISTS, ownerKeys, ownerOfList } from './keys.ts';
import { readFields } from './record-fields.ts';
import { scripts } from './scripts.ts';

/** Entries that one read looks at, in steps. */
const STEP = 500;
const MOST = 10 * STEP;
/** Keys of any kind that one step of a walk over all of them passes. */
const KEYS = 1_000;

/**
 * Takes those tasks out of a list whose record has expired. Only the oldest entries are looked at, and only those
 * old enough to have expired: a younger one may be in the making.
 * @param list ZSET: task id -> created (ms)
 * @param expiredBefore ms since 1970: a record created later than this cannot have expired yet
 * @param most how many entries are looked at
 */
export async function pruneExpired(
  redis: Redis,
  list: string,
  expiredBefore: number,
  most = MOST,
): Promise<void> {
  let kept = 0;
  for (let seen = 0; seen < most; ) {
    const count = Math.min(STEP, most - seen);
    const old = (await redis.zrangebyscore(list, '-inf', expiredBefore, 'LIMIT', kept, count)).map((id) =>
      WorkflowId.parse(id),
    );
    if (old.length === 0) return;
    const versions = await readFields(redis, old, ['v']);
    const gone = old.filter((_, at) => versions[at]?.[0] === null);
    if (gone.length > 0) await redis.zrem(list, ...gone);
    if (old.length < count) return;
    kept += old.length - gone.length;
    seen += old.length;
  }
}

/**
 * One step of a walk over the lists of all owners, for those who never come back: nobody else would empty theirs.
 * @param cursor where the step before has ended; `'0'`: at the beginning
 * @returns where the next one begins; `'0'`: the walk is over
 */
export async function pruneOwners(redis: Redis, cursor: string, expiredBefore: number): Promise<string> {
  const [next, keys] = await redis.scan(cursor, 'MATCH', OWNER_LISTS, 'COUNT', KEYS);
  const owners = new Map<string, Owner>();
  for (const owner of keys.map(ownerOfList)) if (owner) owners.set(ownerKeys(owner).tasks, owner);
  for (const [tasks, owner] of owners) {
    try {
      await pruneExpired(redis, tasks, expiredBefore, STEP);
      await pruneSessions(redis, owner, expiredBefore);
    } catch (error) {
      // Broken lists stay as they are: who reads them is told, and the walk goes on to the next owner.
      if (isRedisUnavailable(error)) throw error;
    }
  }
  return next;
}

/** Takes those sessions out of an owner's list of whose tasks no record is left, as {@link pruneExpired} does. */
export async function pruneSessions(
  redis: Redis,
  owner: Owner,
  expiredBefore: number,
  most = STEP,
): Promise<void> {
  const { sessions } = ownerKeys(owner);
  const old = await redis.zrangebyscore(sessions, '-inf', expiredBefore, 'LIMIT', 0, most);
  for (const sessionId of old) await pruneSession(redis, owner, sessionId, expiredBefore);
}

/** The same for one session. */
export async function pruneSession(
  redis: Redis,
  owner: Owner,
  sessionId: string,
  expiredBefore: number,
): Promise<void> {
  const keys = ownerKeys(owner);
  await pruneExpired(redis, keys.sessionTasks(sessionId), expiredBefore);
  await scripts.removeEmptySession(
    redis,
    [
      keys.sessions,
      keys.session(sessionId),
      keys.sessionTasks(sessionId),
      keys.sessionUnsummed(sessionId),
      keys.sessionSums(sessionId),
    ],
    [sessionId],
  );
}
