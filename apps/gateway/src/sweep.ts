import type { WorkflowId } from '@plangate/contracts';
import { isUnreadable, keysOf, UnreadableStateError } from '@plangate/redis';
import { isWithdrawn, type ReviewState } from '@plangate/review';
import type { OpenReview, ReviewStore } from '@plangate/review/redis';
import { closeReview, type Deliver, deliverDecision, expireFinishedReview } from '@plangate/review/use-cases';
import type { Logger } from '@plangate/service';
import type { TaskEnd } from '@plangate/tasks';
import { endTask, type OpenState, type OpenTask, type TaskStore, taskKey } from '@plangate/tasks/redis';
import type { Engine } from './engine.ts';

export interface SweepParts {
  tasks: TaskStore;
  reviews: ReviewStore;
  events: { expire: (id: WorkflowId, seconds: number) => Promise<void> };
  engine: Pick<Engine, 'describeRun'>;
  deliver: Deliver;
  keepEventsSeconds: number;
  log: Logger;
  /** How long a start may take before it is asked for, and how often an open task is asked for. Default: 60 s. */
  patienceMs?: number;
  /** How long after its deadline an open review is its workflow's. Default: 300 s. */
  overdueMs?: number;
  /** Milliseconds since 1970; default: the clock of the store, which set the times that are compared with it. */
  now?: () => number;
}

/** Pause after the first repetition of a signal, doubled each time, and the longest one, in milliseconds. */
const SEND_AGAIN_MS = 10_000;
const SEND_AGAIN_MOST_MS = 600_000;
/** How many tasks are looked after at the same time. */
const AT_ONCE = 8;

/**
 * Looks after every task with something unfinished (design rule 5): delivers decisions that were not delivered, and
 * ends tasks whose run is gone. Any number of gateways may do this side by side; every step can be repeated.
 */
export class Sweep {
  readonly #parts: SweepParts;
  readonly #patienceMs: number;
  readonly #overdueMs: number;
  /** Looked at with every page of a walk. */
  #nowMs = 0;
  /** When a task was last asked for. */
  readonly #asked = new Map<WorkflowId, number>();
  /** The engine did not answer in this walk: it is not asked again before the next one. */
  #engineAway = false;
  /** Tasks of which something cannot be read, as told to the log. */
  readonly #unreadable = new Set<WorkflowId>();

  constructor(parts: SweepParts) {
    this.#parts = parts;
    this.#patienceMs = parts.patienceMs ?? 60_000;
    this.#overdueMs = parts.overdueMs ?? 300_000;
  }

  /** One walk over all open tasks. A fault with one of them is logged and does not stop the others. */
  async run(): Promise<void> {
    const { tasks } = this.#parts;
    const seen = new Set<WorkflowId>();
    this.#engineAway = false;
    let cursor = '0';
    do {
      const page = await tasks.openIds(cursor);
      cursor = page.cursor;
      for (const { id } of page.tasks) seen.add(id);
      await this.#lookAt(page.tasks);
    } while (cursor !== '0');
    for (const id of this.#asked.keys()) if (!seen.has(id)) this.#asked.delete(id);
    for (const id of this.#unreadable) if (!seen.has(id)) this.#unreadable.delete(id);
  }

  async #lookAt(open: OpenTask[]): Promise<void> {
    const ids = open.map(({ id }) => id);
    const [records, reviews, storeTime] = await Promise.all([
      this.#parts.tasks.openStates(ids),
      this.#parts.reviews.readOpen(ids),
      this.#parts.tasks.now(),
    ]);
    this.#nowMs = this.#parts.now?.() ?? storeTime.getTime();
    const rows = open.map((task, at) => ({ task, record: records[at], review: reviews[at] ?? null }));
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      await Promise.all(
        rows.slice(at, at + AT_ONCE).map(({ task, record, review }) =>
          this.#settle(task, record, review).then(
            () => this.#readable(task.id),
            (error: unknown) => this.#failed(task.id, error),
          ),
        ),
      );
    }
  }

  /** What cannot be read stays among the open tasks, is left as it is, and is told once until it changes. */
  #failed(id: WorkflowId, error: unknown): void {
    const { log } = this.#parts;
    const unreadable = isUnreadable(error);
    if (unreadable && this.#unreadable.has(id)) return;
    if (unreadable) this.#unreadable.add(id);
    const text = unreadable
      ? 'stored state unreadable: the task waits until it is mended'
      : 'sweep failed for a task';
    log.error({ workflow_id: id, err: error, keys: keysOf(error) }, text);
  }

  #readable(id: WorkflowId): void {
    if (this.#unreadable.delete(id))
      this.#parts.log.info({ workflow_id: id }, 'stored state can be read again');
  }

  async #settle(
    task: OpenTask,
    record: OpenState | undefined,
    review: OpenReview | UnreadableStateError | null,
  ): Promise<void> {
    const { id, since } = task;
    if (!record) return;
    if (record.state === 'unreadable') {
      throw new UnreadableStateError(taskKey(id), 'another version wrote it, or it is broken');
    }
    if (review instanceof UnreadableStateError) throw review;
    if (record.state === 'absent') {
      // Its start was taken back, or its record is about to be written.
      if (this.#nowMs - since > this.#patienceMs) await this.#parts.tasks.closeOpen(id, since);
      return;
    }
    if (review?.undelivered && this.#isSentAgain(review.sent)) {
      const { reviews, deliver } = this.#parts;
      const { delivered } = await deliverDecision({ store: reviews, deliver }, id);
      if (delivered) await reviews.noteSent(id, review.undelivered, this.#nowMs);
    }
    // An end that stands is told again: that is what takes the task out of the open ones.
    if (record.ended) await this.#end(id, { kind: 'lost' });
    else if (this.#isDue(task, record.confirmed, review)) await this.#ask(id, record.confirmed);
  }

  /** A signal that was sent is durable: it is repeated less and less often, as a run takes only so many. */
  #isSentAgain({ times, at }: OpenReview['sent']): boolean {
    const pause = times === 0 ? 0 : Math.min(SEND_AGAIN_MS * 2 ** (times - 1), SEND_AGAIN_MOST_MS);
    return this.#nowMs - at >= pause;
  }

  #isDue({ id, since }: OpenTask, confirmed: boolean, review: OpenReview | null): boolean {
    const now = this.#nowMs;
    const isWaiting = review?.status === 'reviewing' && now - review.expiresAt <= this.#overdueMs;
    if (confirmed && isWaiting) return false;
    return now - (this.#asked.get(id) ?? since) > this.#patienceMs;
  }

  async #ask(id: WorkflowId, confirmed: boolean): Promise<void> {
    if (this.#engineAway) return;
    const run = await this.#parts.engine.describeRun(id);
    if (run === 'unreachable') {
      this.#engineAway = true;
      return;
    }
    this.#asked.set(id, this.#nowMs);
    if (run === 'running') {
      if (!confirmed) await this.#parts.tasks.confirmStart(id);
    } else if (run === 'over' || confirmed) await this.#endLost(id, { kind: 'lost' });
    else await this.#endLost(id, { kind: 'not_started' });
  }

  /** Ends a task whose run is gone: by the decision of a person where there is one, otherwise as what it is. */
  async #endLost(id: WorkflowId, otherwise: TaskEnd): Promise<void> {
    const { tasks, reviews, log } = this.#parts;
    const record = await tasks.load(id);
    if (!record) return;
    const { state } = await reviews.load(id);
    if (state?.status === 'reviewing') {
      const { owner, query } = record;
      const origin = { workflowId: id, owner, query, maxRounds: state.max_rounds };
      const closed = await closeReview({ store: reviews }, origin, null);
      if (!closed.ok) throw new Error(closed.error);
      // A decision that came first is delivered by the next walk.
      if (closed.state.status !== 'timed_out') return;
    }
    const end = endBy((await reviews.load(id)).state) ?? otherwise;
    log.warn({ workflow_id: id, end: end.kind }, 'run of a task is gone');
    await this.#end(id, end);
  }

  async #end(id: WorkflowId, end: TaskEnd): Promise<void> {
    const { tasks, reviews, events, keepEventsSeconds } = this.#parts;
    await endTask(id, end, {
      store: tasks,
      events,
      keepEventsSeconds,
      afterEnd: () => expireFinishedReview(reviews, id),
    });
  }
}

function endBy(state: ReviewState | null): TaskEnd | null {
  const decision = state && !isWithdrawn(state) ? state.decision : null;
  if (!decision) return null;
  const reason = decision.reason === undefined ? {} : { reason: decision.reason };
  if (decision.action === 'reject') return { kind: 'rejected', ...reason };
  if (decision.action === 'cancel') return { kind: 'cancelled', by: decision.by, ...reason };
  return null;
}

/** Empties the lists of owners who do not come back of what has expired, a step with each run. */
export function pruning(tasks: Pick<TaskStore, 'pruneOwners'>): Pick<Sweep, 'run'> {
  let cursor = '0';
  return {
    async run() {
      cursor = await tasks.pruneOwners(cursor);
    },
  };
}

/**
 * Sweeps again and again, less than `intervalMs` after the last walk and never twice at the same time.
 * @returns what stops it, and waits for a walk that is going on
 */
export function startSweeping(
  sweep: Pick<Sweep, 'run'>,
  { intervalMs, log }: { intervalMs: number; log: Logger },
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let walk = Promise.resolve();

  const step = (): void => {
    walk = sweep
      .run()
      .catch((error: unknown) => log.warn({ err: error, keys: keysOf(error) }, 'sweep failed'))
      .then(() => {
        // Jitter: gateways that started together do not sweep together. Never late: a start whose outcome is
        // unknown is settled after the patience of 60 s and one interval (contract/plan-review.md §1).
        if (!stopped) timer = setTimeout(step, intervalMs * (0.6 + Math.random() * 0.3));
      });
  };
  step();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await walk;
  };
}
