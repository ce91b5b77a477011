import { type Owner, WorkflowId } from '@plangate/contracts';
import { isUnreadable, readStored, redisNow } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { SessionRecord, type SessionWithTotals } from '../sessions.ts';
import { KEEP_SECONDS } from './keep.ts';
import { ownerKeys } from './keys.ts';
import { pruneSession, pruneSessions } from './prune.ts';
import { scripts } from './scripts.ts';
import { readTotals } from './session-sums.ts';

/** Sessions of a page that are read side by side: all at once, without sums yet, would time out. */
const AT_ONCE = 5;

export interface SessionStoreOptions {
  /** As of the task store: seconds for which an ended record is kept. */
  keepSeconds?: number;
  now?: () => Date;
}

export interface SessionPage {
  sessions: SessionWithTotals[];
  totalCount: number;
}

/**
 * Sessions in Redis. A session belongs to exactly one owner: two owners may use the same id and see nothing of each
 * other. It exists as long as a task of it has a record; entries that have expired leave when they are read.
 */
export class SessionStore {
  readonly #redis: Redis;
  readonly #keepSeconds: number;
  readonly #now: (() => Date) | undefined;

  constructor(redis: Redis, options: SessionStoreOptions = {}) {
    this.#redis = redis;
    this.#keepSeconds = options.keepSeconds ?? KEEP_SECONDS;
    this.#now = options.now;
  }

  /** The owner's sessions, the one used last first, with the count of all. */
  async list(owner: Owner, { limit, offset }: { limit: number; offset: number }): Promise<SessionPage> {
    const { sessions } = ownerKeys(owner);
    await pruneSessions(this.#redis, owner, await this.#expiredBefore());
    const [ids, totalCount] = await Promise.all([
      this.#redis.zrevrange(sessions, offset, offset + limit - 1),
      this.#redis.zcard(sessions),
    ]);
    const page: SessionWithTotals[] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const reads = ids.slice(at, at + AT_ONCE).map((id) => this.#read(owner, id).catch(skipUnreadable));
      page.push(...(await Promise.all(reads)).filter((session) => session !== null));
    }
    return { sessions: page, totalCount };
  }

  /** A session and what its tasks come to; null where this owner has none of this id. */
  async load(owner: Owner, sessionId: string): Promise<SessionWithTotals | null> {
    return this.#read(owner, sessionId);
  }

  /** Ids of a session's tasks, oldest first; null where this owner has no such session. */
  async taskIds(owner: Owner, sessionId: string): Promise<WorkflowId[] | null> {
    const keys = ownerKeys(owner);
    await pruneSession(this.#redis, owner, sessionId, await this.#expiredBefore());
    const [exists, ids] = await Promise.all([
      this.#redis.exists(keys.session(sessionId)),
      this.#redis.zrange(keys.sessionTasks(sessionId), '0', '-1'),
    ]);
    return exists === 0 ? null : ids.map((id) => WorkflowId.parse(id));
  }

  /** @returns false where this owner has no such session */
  async rename(owner: Owner, sessionId: string, title: string): Promise<boolean> {
    const key = ownerKeys(owner).session(sessionId);
    return (
      (await scripts.renameSession(this.#redis, [key], [title, (await this.#time()).toISOString()])) === 1
    );
  }

  /** Takes a session off the owner's list; its tasks stay what they are. The same again changes nothing. */
  async remove(owner: Owner, sessionId: string): Promise<void> {
    const keys = ownerKeys(owner);
    await this.#redis
      .multi()
      .del(
        keys.session(sessionId),
        keys.sessionTasks(sessionId),
        keys.sessionUnsummed(sessionId),
        keys.sessionSums(sessionId),
      )
      .zrem(keys.sessions, sessionId)
      .exec();
  }

  async #read(owner: Owner, sessionId: string): Promise<SessionWithTotals | null> {
    const key = ownerKeys(owner).session(sessionId);
    const now = (await this.#time()).getTime();
    const times = { now, expiredBefore: now - this.#keepSeconds * 1_000 };
    let read = await readTotals(this.#redis, owner, sessionId, times);
    if (read.mayHaveExpired > 0 || read.totals.tasks === 0) {
      await pruneSession(this.#redis, owner, sessionId, times.expiredBefore);
      read = await readTotals(this.#redis, owner, sessionId, times);
    }
    const hash = await this.#redis.hgetall(key);
    if (Object.keys(hash).length === 0) return null;
    return { session: readStored(key, () => SessionRecord.parse(hash)), totals: read.totals };
  }

  /** The clock of the records. */
  async #time(): Promise<Date> {
    return this.#now?.() ?? new Date(await redisNow(this.#redis));
  }

  async #expiredBefore(): Promise<number> {
    return (await this.#time()).getTime() - this.#keepSeconds * 1_000;
  }
}

/** One that cannot be read must not take the whole list away; a read of it alone says what it is. */
function skipUnreadable(error: unknown): null {
  if (isUnreadable(error)) return null;
  throw error;
}
