import { type Condition, conditionOf, type ReviewState } from './condition.ts';
import { NotFoundError, TimeoutError, versionOf } from './http/errors.ts';
import { AWAY_SECONDS, Patience } from './http/patience.ts';
import { pause } from './http/pause.ts';
import type { CallOptions, ChangeOptions, Transport } from './http/transport.ts';
import { withinLimit } from './http/within-limit.ts';
import { idOf, type TaskRef, taskPath } from './ref.ts';
import { isOver, TaskEndedError } from './task-end.ts';
import type {
  ApproveBody,
  AuditList,
  FeedbackBody,
  PlanDiff,
  ReviewBody,
  TaskBody,
  VersionList,
} from './wire.ts';

/** A review as it stands, with the id that later calls need. */
export type Review = ReviewBody & { workflow_id: string };
/** What the planner made of a feedback; a state to decide on, too. */
export type FeedbackAnswer = FeedbackBody & { workflow_id: string };
/** An approval that is recorded. */
export type Approval = ApproveBody & { workflow_id: string; version: number };

/** Options of a call that is given a state; its version is sent unless they say otherwise. */
export type DecideOptions = ChangeOptions & {
  version?: number | undefined;
  unconditional?: boolean | undefined;
};

/** Longest wait of the gateway for a first plan, in seconds (`contract/plan-review.md` §2.1). */
const LONGEST_WAIT_SECONDS = 25;
/** How much longer than that an answer may take, in seconds; less where the client waits less for its answers. */
const ANSWER_SECONDS = 15;
const LOOK_AGAIN_MS = 200;

/**
 * The review of a plan (`contract/plan-review.md` §2). Every call that changes it sends `If-Match` with the version of
 * the state that it is given, so that nobody decides on a plan that they have not seen: a `ConflictError` otherwise.
 */
export class Reviews {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The review as it stands. Where the first plan is still being made the gateway waits for it.
   * @param options.wait how long it may wait, in seconds: 0 to 25; default 20
   * @throws {NotFoundError} where there is no review, or not yet
   */
  async get(task: TaskRef, options: CallOptions & { wait?: number | undefined } = {}): Promise<Review> {
    const path = taskPath(task, '/review');
    const query = { wait: options.wait };
    const { body } = await this.#transport.request<ReviewBody>({ method: 'GET', path, query }, options);
    return { ...body, workflow_id: idOf(task) };
  }

  /**
   * Waits, however long it takes, until there is something to decide on: a first plan, or a question of the planner
   * (then `current_plan` is `""` and `rounds` ends with it).
   * @throws {TaskEndedError} where the task ends without
   * @throws {NotFoundError} where the task is not one whose plan is reviewed
   */
  async waitUntilReady(task: TaskRef, options: CallOptions = {}): Promise<Review> {
    const { timeoutSeconds = Number.POSITIVE_INFINITY } = options;
    const ends = performance.now() + timeoutSeconds * 1_000;
    const late = () =>
      new TimeoutError(`task ${idOf(task)} has no plan after ${timeoutSeconds} s; it goes on`);
    return withinLimit(options, late, async (signal) => {
      const patience = new Patience(AWAY_SECONDS, signal);
      for (;;) {
        // The first look comes back at once: from then on the gateway is known to be there.
        const left = Math.floor(Math.max(0, ends - performance.now()) / 1_000);
        const wait = patience.reached ? Math.min(LONGEST_WAIT_SECONDS, left) : 0;
        try {
          const review = await this.#look(task, wait, { ...options, signal }, patience);
          if (review) return review;
          await pause(LOOK_AGAIN_MS, signal);
        } catch (error) {
          await patience.afterFault(error, LOOK_AGAIN_MS);
        }
      }
    });
  }

  /**
   * Asks the planner to change the plan, or answers its question. Takes as long as the model does.
   * @returns the new state
   * @throws {ConflictError} where the review is no longer the one that was read, or its rounds are used up
   * @throws {BadGatewayError} where the model failed: nothing has changed
   */
  async feedback(state: ReviewState, message: string, options?: DecideOptions): Promise<FeedbackAnswer>;
  async feedback(id: string, message: string, options: ChangeOptions & Condition): Promise<FeedbackAnswer>;
  async feedback(
    target: string | ReviewState,
    message: string,
    options: DecideOptions = {},
  ): Promise<FeedbackAnswer> {
    return this.#act<FeedbackBody>(target, { action: 'feedback', message }, options);
  }

  /**
   * Approves the plan that was read: exactly that one is executed.
   * @throws {ConflictError} where it is no longer the plan, or the review is closed
   */
  async approve(state: ReviewState, options?: DecideOptions): Promise<Approval>;
  async approve(id: string, options: ChangeOptions & Condition): Promise<Approval>;
  async approve(target: string | ReviewState, options: DecideOptions = {}): Promise<Approval> {
    return this.#act<ApproveBody>(target, { action: 'approve' }, options);
  }

  /** Puts a text of one's own in the place of the plan. Without a model, and without using a round. */
  async edit(state: ReviewState, plan: string, options?: DecideOptions): Promise<Review>;
  async edit(id: string, plan: string, options: ChangeOptions & Condition): Promise<Review>;
  async edit(target: string | ReviewState, plan: string, options: DecideOptions = {}): Promise<Review> {
    return this.#act<ReviewBody>(target, { action: 'edit', plan }, options);
  }

  /**
   * Refuses the plan for good; the task ends.
   * @param options.reason stands in the task's `error`
   */
  async reject(
    state: ReviewState,
    options?: DecideOptions & { reason?: string | undefined },
  ): Promise<Review>;
  async reject(
    id: string,
    options: ChangeOptions & Condition & { reason?: string | undefined },
  ): Promise<Review>;
  async reject(
    target: string | ReviewState,
    options: DecideOptions & { reason?: string | undefined } = {},
  ): Promise<Review> {
    const { reason } = options;
    return this.#act<ReviewBody>(
      target,
      { action: 'reject', ...(reason === undefined ? {} : { reason }) },
      options,
    );
  }

  /** Moves the deadline by so many seconds. */
  async extend(state: ReviewState, seconds: number, options?: DecideOptions): Promise<Review>;
  async extend(id: string, seconds: number, options: ChangeOptions & Condition): Promise<Review>;
  async extend(target: string | ReviewState, seconds: number, options: DecideOptions = {}): Promise<Review> {
    return this.#act<ReviewBody>(target, { action: 'extend', seconds }, options);
  }

  /** Every text that was the plan. */
  async versions(task: TaskRef, options: CallOptions = {}): Promise<VersionList> {
    return this.#read(task, '/versions', {}, options);
  }

  /** What changed between two of them, word by word. */
  async diff(task: TaskRef, options: CallOptions & { from: number; to: number }): Promise<PlanDiff> {
    return this.#read(task, '/diff', { from: options.from, to: options.to }, options);
  }

  /** Every step and every refusal, chained by hash. */
  async audit(task: TaskRef, options: CallOptions = {}): Promise<AuditList> {
    return this.#read(task, '/audit', {}, options);
  }

  /**
   * The review; null where there is none yet, but will be.
   * @param wait how long the gateway may wait for it, in seconds
   */
  async #look(task: TaskRef, wait: number, options: CallOptions, patience: Patience): Promise<Review | null> {
    const timeoutSeconds = wait + Math.min(ANSWER_SECONDS, this.#transport.timeoutSeconds);
    const asked = performance.now();
    try {
      return await this.get(task, { ...options, timeoutSeconds, wait });
    } catch (error) {
      if (!(error instanceof NotFoundError) || error.code !== 'review_not_found') throw error;
      patience.progress();
      // The gateway waits only where a review will come.
      const waited = (performance.now() - asked) / 1_000 >= wait / 2;
      await this.#requireRunning(task, waited ? null : error, { ...options, timeoutSeconds });
      return null;
    }
  }

  /** @throws {TaskEndedError} where the task is over; `missing` where it is not one that has a review */
  async #requireRunning(task: TaskRef, missing: NotFoundError | null, options: CallOptions): Promise<void> {
    const call = { method: 'GET', path: taskPath(task) } as const;
    const { body } = await this.#transport.request<TaskBody>(call, options);
    if (isOver(body)) throw new TaskEndedError(body);
    if (missing) throw missing;
  }

  async #read<T>(
    task: TaskRef,
    below: string,
    query: Record<string, number>,
    options: CallOptions,
  ): Promise<T> {
    const path = taskPath(task, `/review${below}`);
    return (await this.#transport.request<T>({ method: 'GET', path, query }, options)).body;
  }

  /** One action on the review; the version after it is the answer's, or stands in its `ETag`. */
  async #act<T extends object>(
    target: string | ReviewState,
    action: Record<string, unknown>,
    options: DecideOptions,
  ): Promise<T & ReviewState> {
    const { workflowId, headers } = conditionOf(target, options);
    const path = taskPath(workflowId, '/review');
    const answer = await this.#transport.request<T>({ method: 'POST', path, headers, body: action }, options);
    // Without an ETag, which something on the way may take off, no version is made up: nothing can be bound to it.
    const version = versionOf(answer.headers) ?? Number.NaN;
    return { version, ...answer.body, workflow_id: workflowId };
  }
}
