import type { ModelUsage, Owner, TaskStatus, WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import { encodeAppend, eventKeys } from '@plangate/events/redis';
import { faultAt, redisNow, UnreadableStateError } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { describeEnd, type TaskEnd } from '../end.ts';
import { RECORD_VERSION, type TaskRecord, type TaskSummary } from '../record.ts';
import { KEEP_SECONDS } from './keep.ts';
import { OPEN_TASKS, taskKey } from './keys.ts';
import { closeOpenTask, type OpenState, type OpenTask, openStates, openTasks } from './open-tasks.ts';
import { pruneOwners } from './prune.ts';
import { scripts } from './scripts.ts';
import { checkVersion, fromHash, toHash } from './stored-record.ts';
import { indexTask, listTasks, type TaskListQuery, unindexTask } from './task-lists.ts';

export interface TaskStoreOptions {
  /** Seconds for which an ended record is kept; 30 days unless told otherwise. */
  keepSeconds?: number;
  /** Default: the clock of Redis, so that what several processes write and compare has one clock. */
  now?: () => Date;
}

/** `created`: by this call. `adopted`: found unstarted, and now this attempt's. `exists`: started already. */
export interface Created {
  outcome: 'created' | 'adopted' | 'exists';
  /** The record that stands. */
  record: TaskRecord;
}

/** `unchanged`: does not apply in this state, or was applied before. `ended`: the task has its end. */
export type UpdateOutcome = 'done' | 'unchanged' | 'ended' | 'absent';

/** Who paused, resumed or cancelled, and why (`""` for no reason). */
export interface ControlledBy {
  reason: string;
  by: string;
}

/** What an approval adds to the context; a key that is left out stays as it is. */
export interface ApprovedContext {
  confirmed_plan: string;
  review_conversation: unknown[];
  research_brief?: string;
}

/** The end that holds, whoever wrote it. */
export interface StandingEnd {
  kind: TaskEnd['kind'];
  status: TaskStatus;
  error: string | null;
  completedAt: string;
}
export type EndOutcome = { outcome: 'ended' | 'stands'; end: StandingEnd } | { outcome: 'absent' };

/**
 * The records of tasks in Redis, their lists and the index of open ones. Every change is one script that
 * compares first. Methods fail with the error of Redis while it cannot be reached, and with
 * {@link UnreadableStateError} where a record was written by another version; such a record is never changed.
 */
export class TaskStore {
  readonly #redis: Redis;
  readonly #keepSeconds: number;
  readonly #now: (() => Date) | undefined;

  constructor(redis: Redis, options: TaskStoreOptions = {}) {
    this.#redis = redis;
    this.#keepSeconds = options.keepSeconds ?? KEEP_SECONDS;
    this.#now = options.now;
  }

  /** The clock of all times in records and in the index of open tasks. */
  async now(): Promise<Date> {
    return this.#now?.() ?? new Date(await redisNow(this.#redis));
  }

  /**
   * Writes a new record, unless its id has one; the attempt is named by `record.start.token`. The task is in
   * the index of open ones before its record exists, so that a crash in between leaves nothing unseen.
   * @throws {Error} where the id belongs to another owner
   */
  async create(record: TaskRecord): Promise<Created> {
    const id = record.task_id;
    const { tenant, user } = record.owner;
    await this.#redis.zadd(OPEN_TASKS, (await this.now()).getTime(), id);
    const fields = Object.entries(toHash(record)).flat();
    const outcome = this.#checked(
      id,
      await scripts.create(
        this.#redis,
        [taskKey(id)],
        [RECORD_VERSION, record.start.token, tenant, user, ...fields],
      ),
    ) as Created['outcome'];
    const standing = outcome === 'created' ? record : await this.load(id);
    if (standing?.owner.tenant !== tenant || standing.owner.user !== user) {
      throw new Error(`task id ${id} is taken`);
    }
    await indexTask(this.#redis, standing, await this.#expiredBefore());
    return { outcome, record: standing };
  }

  /** The record, or null where there is none. */
  async load(id: WorkflowId): Promise<TaskRecord | null> {
    const hash = await this.#redis.hgetall(taskKey(id));
    return Object.keys(hash).length === 0 ? null : fromHash(id, hash);
  }

  /** Whose task it is, read without the rest; null where there is none. */
  async loadOwner(id: WorkflowId): Promise<Owner | null> {
    const replies = await this.#redis
      .pipeline()
      .exists(taskKey(id))
      .hmget(taskKey(id), 'v', 'tenant', 'user')
      .exec();
    const [exists, fields] = (replies ?? []).map(([error, value]) => {
      if (error) throw faultAt(taskKey(id), error);
      return value;
    }) as [number, (string | null)[]];
    if (exists === 0) return null;
    const [version, tenant, user] = fields;
    checkVersion(id, version);
    if (!tenant || !user) throw new UnreadableStateError(taskKey(id), 'its owner is missing');
    return { tenant, user };
  }

  /** Notes that the engine has the run: from now on a run that is not found was lost, not never started. */
  confirmStart(id: WorkflowId): Promise<UpdateOutcome> {
    return this.#update(id, { fields: { start_confirmed: '1' }, unless: 'start_confirmed' });
  }

  /**
   * Takes the record back after an answer that excludes a start. Only the attempt whose token the record
   * carries may do so, and only while nothing has started. Its entry in the index of open tasks is left to
   * the sweep, because another attempt may have entered it again.
   */
  async removeUnstarted(id: WorkflowId, token: string): Promise<boolean> {
    const record = await this.load(id);
    if (!record) return false;
    const outcome = await scripts.removeUnstarted(this.#redis, [taskKey(id)], [RECORD_VERSION, token]);
    if (this.#checked(id, outcome) !== 'removed') return false;
    await unindexTask(this.#redis, record);
    return true;
  }

  /** The workflow has begun. */
  markRunning(id: WorkflowId, events: KeyedEvent[] = []): Promise<UpdateOutcome> {
    return this.#update(id, {
      from: ['TASK_STATUS_QUEUED'],
      fields: { status: 'TASK_STATUS_RUNNING', start_confirmed: '1' },
      events,
    });
  }

  async setPaused(
    id: WorkflowId,
    { reason, by }: ControlledBy,
    events: KeyedEvent[] = [],
  ): Promise<UpdateOutcome> {
    const paused_at = (await this.now()).toISOString();
    return this.#update(id, {
      from: ['TASK_STATUS_QUEUED', 'TASK_STATUS_RUNNING'],
      fields: {
        status: 'TASK_STATUS_PAUSED',
        start_confirmed: '1',
        is_paused: '1',
        paused_at,
        pause_reason: reason,
        paused_by: by,
      },
      events,
    });
  }

  setResumed(id: WorkflowId, events: KeyedEvent[] = []): Promise<UpdateOutcome> {
    return this.#update(id, {
      from: ['TASK_STATUS_PAUSED'],
      fields: {
        status: 'TASK_STATUS_RUNNING',
        is_paused: '0',
        paused_at: '',
        pause_reason: '',
        paused_by: '',
      },
      events,
    });
  }

  /** Notes what the workflow was asked for, so that the next request is judged by it; `''`: by the record alone. */
  noteWanted(id: WorkflowId, wanted: TaskRecord['wanted']): Promise<UpdateOutcome> {
    return this.#update(id, { fields: { wanted } });
  }

  /** A cancel is on its way; the status stays until the end. The first reason stands. */
  setCancelling(
    id: WorkflowId,
    { reason, by }: ControlledBy,
    events: KeyedEvent[] = [],
  ): Promise<UpdateOutcome> {
    return this.#update(id, {
      unless: 'is_cancelled',
      fields: { is_cancelled: '1', cancel_reason: reason, cancelled_by: by },
      events,
    });
  }

  /** Puts the approved plan beside what the caller gave as context. */
  setContext(id: WorkflowId, added: ApprovedContext, events: KeyedEvent[] = []): Promise<UpdateOutcome> {
    return this.#update(id, { fields: { added_context: JSON.stringify(added) }, events });
  }

  /**
   * Adds what one model call used, once per `key`; a retry has the same key. It counts after the end too.
   * @param usage `estimated_cost` in the currency of the settings, 0 where it is not known
   */
  async addUsage(
    id: WorkflowId,
    usage: ModelUsage & { estimated_cost?: number },
    key: string,
  ): Promise<'done' | 'unchanged' | 'absent'> {
    const outcome = await scripts.addUsage(
      this.#redis,
      [taskKey(id)],
      [
        RECORD_VERSION,
        key,
        usage.input_tokens,
        usage.output_tokens,
        usage.estimated_cost ?? 0,
        usage.model,
        usage.provider,
        (await this.now()).toISOString(),
      ],
    );
    return this.#checked(id, outcome) as 'done' | 'unchanged' | 'absent';
  }

  /**
   * Writes the end and its events in one step. The first end wins: a later call changes nothing and returns
   * the one that stands. Use {@link endTask}, which does what belongs to an end besides.
   */
  async end(id: WorkflowId, end: TaskEnd): Promise<EndOutcome> {
    const { stream, meta, channel } = eventKeys(id);
    const { events } = describeEnd(end);
    const fields = Object.entries(endFields(end, (await this.now()).toISOString())).flat();
    const reply = (await scripts.end(
      this.#redis,
      [taskKey(id), stream, meta],
      [RECORD_VERSION, this.#keepSeconds, channel, encodeAppend(events), ...fields],
    )) as [string, StandingEnd['kind'], TaskStatus, string | null, string];
    const [outcome, kind, status, error, completedAt] = reply;
    if (this.#checked(id, outcome) === 'absent') return { outcome: 'absent' };
    return { outcome: outcome as 'ended' | 'stands', end: { kind, status, error, completedAt } };
  }

  /** The owner's tasks, newest first, with the count of all that match. */
  async listByOwner(
    owner: Owner,
    query: TaskListQuery,
  ): Promise<{ records: TaskSummary[]; totalCount: number }> {
    return listTasks(this.#redis, owner, query, await this.#expiredBefore());
  }

  /**
   * One step of a walk over the lists of all owners, which takes out what has expired, sessions too.
   * @param cursor what the step before has returned; `'0'` begins anew, and says that the walk is over
   */
  async pruneOwners(cursor: string): Promise<string> {
    return pruneOwners(this.#redis, cursor, await this.#expiredBefore());
  }

  /** One step of a walk over the open tasks, from cursor `'0'` until it is `'0'` again. */
  openIds(cursor = '0', count = 500): Promise<{ cursor: string; tasks: OpenTask[] }> {
    return openTasks(this.#redis, cursor, count);
  }

  /** What the records of these tasks say, in their order, in one round trip. */
  openStates(ids: WorkflowId[]): Promise<OpenState[]> {
    return openStates(this.#redis, ids);
  }

  /** Takes a task out of the open ones; with `since` only when it has not entered again meanwhile. */
  closeOpen(id: WorkflowId, since?: number): Promise<boolean> {
    return closeOpenTask(this.#redis, id, since);
  }

  /** A record that was created later, in ms since 1970, cannot have expired yet. */
  async #expiredBefore(): Promise<number> {
    return (await this.now()).getTime() - this.#keepSeconds * 1_000;
  }

  async #update(
    id: WorkflowId,
    change: { fields: Record<string, string>; from?: TaskStatus[]; unless?: string; events?: KeyedEvent[] },
  ): Promise<UpdateOutcome> {
    const { stream, meta, channel } = eventKeys(id);
    const { events = [] } = change;
    const outcome = await scripts.update(
      this.#redis,
      [taskKey(id), stream, meta],
      [
        RECORD_VERSION,
        (change.from ?? []).join(' '),
        change.unless ?? '',
        channel,
        events.length > 0 ? encodeAppend(events) : '',
        ...Object.entries({ ...change.fields, updated_at: (await this.now()).toISOString() }).flat(),
      ],
    );
    return this.#checked(id, outcome) as UpdateOutcome;
  }

  #checked(id: WorkflowId, outcome: unknown): string {
    if (outcome === 'version')
      throw new UnreadableStateError(taskKey(id), 'another version wrote it, or it is not whole');
    return String(outcome);
  }
}

function endFields(end: TaskEnd, at: string): Record<string, string> {
  const { status, result, error } = describeEnd(end);
  return {
    end_kind: end.kind,
    status,
    result,
    ...(error === null ? {} : { error }),
    completed_at: at,
    updated_at: at,
    is_paused: '0',
    ...(end.kind === 'cancelled' ? { is_cancelled: '1' } : {}),
    ...(end.kind === 'cancelled' && end.reason ? { cancel_reason: end.reason } : {}),
    ...(end.kind === 'cancelled' && end.by ? { cancelled_by: end.by } : {}),
    ...(end.kind === 'plan_failed' && end.reason ? { metadata: JSON.stringify({ reason: end.reason }) } : {}),
    ...(end.kind === 'completed' && end.metadata ? { metadata: JSON.stringify(end.metadata) } : {}),
    ...(end.kind === 'completed' && end.modelUsed ? { model_used: end.modelUsed } : {}),
    ...(end.kind === 'completed' && end.provider ? { provider: end.provider } : {}),
  };
}
