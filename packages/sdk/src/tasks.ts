import type { Events, StreamOptions } from './events.ts';
import { RateLimitError, TimeoutError } from './http/errors.ts';
import { AWAY_SECONDS, Patience } from './http/patience.ts';
import { pause } from './http/pause.ts';
import { limitMs } from './http/timer.ts';
import type { CallOptions, ChangeOptions, Transport } from './http/transport.ts';
import { withinLimit } from './http/within-limit.ts';
import { idOf, type TaskRef, taskPath } from './ref.ts';
import type { Page } from './sessions.ts';
import type { StreamEvent } from './stream/event.ts';
import { isOver } from './task-end.ts';
import type {
  ControlAnswer,
  ControlState,
  EventList,
  StreamTaskAnswer,
  SubmitTaskAnswer,
  SubmitTaskBody,
  TaskBody,
  TaskList,
  Timeline,
} from './wire.ts';

/** What to do: the wire's fields; only `query` is needed. */
export type SubmitTask = Pick<SubmitTaskBody, 'query'> & {
  [Field in Exclude<keyof SubmitTaskBody, 'query'>]?: SubmitTaskBody[Field] | undefined;
};

/** A submitted task and its events, live. */
export interface StreamedTask extends StreamTaskAnswer {
  events: AsyncGenerator<StreamEvent, void, undefined>;
}

/** Options of {@link Tasks.wait}. */
export interface WaitOptions {
  /** Gives the wait up; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Longest wait in seconds; default: as long as it takes. */
  timeoutSeconds?: number | undefined;
  /** `stream` (default) follows the events; `polling` reads the task again and again. */
  by?: 'stream' | 'polling' | undefined;
  /** Seconds between two reads; default 2. */
  intervalSeconds?: number | undefined;
  /** Told of every event, where they are followed. */
  onEvent?: ((event: StreamEvent) => void) | undefined;
}

/** The longest that a task's record may be behind its last event, in milliseconds between two looks. */
const SETTLE_MS = 100;

/** Tasks (`contract/plan-review.md` §1). */
export class Tasks {
  readonly #transport: Transport;
  readonly #events: Events;

  constructor(transport: Transport, events: Events) {
    this.#transport = transport;
    this.#events = events;
  }

  /**
   * Submits a task. `context: { require_review: true }` makes its plan wait for a person.
   * @throws {BadRequestError} where a field is wrong, or looks like a misspelt setting of the review
   */
  async submit(task: SubmitTask, options: ChangeOptions = {}): Promise<SubmitTaskAnswer> {
    return this.#post('/api/v1/tasks', task, options);
  }

  /** Submits a task and follows it: `events` as of {@link Events.stream}, opened when it is first read. */
  async submitAndStream(
    task: SubmitTask,
    options: ChangeOptions & Pick<StreamOptions, 'types' | 'silenceSeconds' | 'awaySeconds'> = {},
  ): Promise<StreamedTask> {
    const { signal, types, silenceSeconds, awaySeconds } = options;
    const answer = await this.#post<StreamTaskAnswer>('/api/v1/tasks/stream', task, options);
    return { ...answer, events: this.#events.stream(answer, { signal, types, silenceSeconds, awaySeconds }) };
  }

  /** The task as it stands, with its result once it has one. */
  async get(task: TaskRef, options: CallOptions = {}): Promise<TaskBody> {
    return this.#read(taskPath(task), {}, options);
  }

  /** One's own tasks, the newest first. */
  async list(
    options: CallOptions &
      Page & {
        status?: TaskBody['status'] | (string & {}) | undefined;
        session_id?: string | undefined;
      } = {},
  ): Promise<TaskList> {
    const { limit, offset, status, session_id } = options;
    return this.#read('/api/v1/tasks', { limit, offset, status, session_id }, options);
  }

  /** Ends a task, whatever it is doing; its review too. Twice is no error. */
  async cancel(
    task: TaskRef,
    options: ChangeOptions & { reason?: string | undefined } = {},
  ): Promise<ControlAnswer> {
    return this.#control(task, '/cancel', options);
  }

  /** Starts nothing further until {@link resume}; a review's deadline goes on. */
  async pause(
    task: TaskRef,
    options: ChangeOptions & { reason?: string | undefined } = {},
  ): Promise<ControlAnswer> {
    return this.#control(task, '/pause', options);
  }

  /** Goes on with what {@link pause} has stopped. */
  async resume(
    task: TaskRef,
    options: ChangeOptions & { reason?: string | undefined } = {},
  ): Promise<ControlAnswer> {
    return this.#control(task, '/resume', options);
  }

  /** Whether it is paused or cancelled, by whom and why. */
  async controlState(task: TaskRef, options: CallOptions = {}): Promise<ControlState> {
    return this.#read(taskPath(task, '/control-state'), {}, options);
  }

  /** A part of the events so far, as they are stored; {@link Events.stream} has them live. */
  async events(task: TaskRef, options: CallOptions & Page = {}): Promise<EventList> {
    const { limit, offset } = options;
    return this.#read(taskPath(task, '/events'), { limit, offset }, options);
  }

  /** All events so far. */
  async timeline(task: TaskRef, options: CallOptions = {}): Promise<Timeline> {
    return this.#read(taskPath(task, '/timeline'), {}, options);
  }

  /**
   * Waits for the end of a task, restarts of the gateway included. How it ended stands in `status` and `error`.
   * @throws {TimeoutError} where it has not ended within `timeoutSeconds`; the task goes on
   * @throws the reason of `signal` when it is aborted
   */
  async wait(task: TaskRef, options: WaitOptions = {}): Promise<TaskBody> {
    const { timeoutSeconds, by = 'stream', onEvent, intervalSeconds = 2 } = options;
    const intervalMs = limitMs('intervalSeconds', intervalSeconds);
    const late = () =>
      new TimeoutError(`task ${idOf(task)} has not ended within ${timeoutSeconds} s; it goes on`);
    return withinLimit(options, late, async (signal) => {
      const patience = new Patience(AWAY_SECONDS, signal);
      const streamed = by === 'stream' && (await this.#streamToEnd(task, onEvent, signal));
      if (streamed) patience.reach();
      return this.#pollToEnd(task, streamed ? SETTLE_MS : intervalMs, signal, patience);
    });
  }

  /** False where the gateway has no stream left for this user. */
  async #streamToEnd(task: TaskRef, onEvent: WaitOptions['onEvent'], signal: AbortSignal): Promise<boolean> {
    // Without anybody to tell, `done` is enough.
    const types = onEvent ? undefined : ['STREAM_END'];
    try {
      for await (const event of this.#events.stream(task, { signal, types })) onEvent?.(event);
      return true;
    } catch (error) {
      if (error instanceof RateLimitError) return false;
      throw error;
    }
  }

  async #pollToEnd(
    task: TaskRef,
    intervalMs: number,
    signal: AbortSignal,
    patience: Patience,
  ): Promise<TaskBody> {
    for (;;) {
      try {
        const body = await this.get(task, { signal });
        if (isOver(body)) return body;
        patience.progress();
        await pause(intervalMs, signal);
      } catch (error) {
        await patience.afterFault(error, intervalMs);
      }
    }
  }

  async #control(
    task: TaskRef,
    action: '/cancel' | '/pause' | '/resume',
    options: ChangeOptions & { reason?: string | undefined },
  ): Promise<ControlAnswer> {
    const { reason } = options;
    return this.#post(taskPath(task, action), reason === undefined ? {} : { reason }, options);
  }

  async #post<T>(path: string, body: object, options: ChangeOptions): Promise<T> {
    return (await this.#transport.request<T>({ method: 'POST', path, body }, options)).body;
  }

  async #read<T>(
    path: string,
    query: Record<string, string | number | undefined>,
    options: CallOptions,
  ): Promise<T> {
    return (await this.#transport.request<T>({ method: 'GET', path, query }, options)).body;
  }
}
