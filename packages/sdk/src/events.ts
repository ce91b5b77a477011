import { abortedBy } from './http/abort.ts';
import { AWAY_SECONDS, Patience } from './http/patience.ts';
import { limitMs } from './http/timer.ts';
import type { Transport } from './http/transport.ts';
import { idOf, type TaskRef } from './ref.ts';
import type { EventName, StreamEvent } from './stream/event.ts';
import { follow } from './stream/follow.ts';

/** Options of a stream. */
export interface StreamOptions {
  /** Ends the stream; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** The names of the events that are wanted, such as `PROGRESS` or `workflow.paused`; default: all. */
  types?: readonly (EventName | (string & {}))[] | undefined;
  /** Begins after this event, by its `id` or its `seq`; default: with the first. */
  last_event_id?: string | number | undefined;
  /** Longest silence in seconds before the connection counts as dead and is made again, its opening included; default 30. */
  silenceSeconds?: number | undefined;
  /** How long the gateway may be away, once it was reached, before the stream gives up; default 300. */
  awaySeconds?: number | undefined;
}

const SILENCE_SECONDS = 30;
const CURSOR = /^\d{1,15}(-\d{1,15})?$/;

/** Live events (`contract/plan-review.md` §3). */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The events of a task, live, to its end: `for await (const event of plangate.events.stream(id))`. A connection
   * that breaks is made again and goes on after the last event; each event comes once. Events that are no longer kept
   * are reported as one `gap`. Leaving the loop closes the connection, and so does `return()`; no more is read than is
   * taken.
   * @throws {StatusError | ConnectionError} where the stream cannot be opened, or the gateway stays away
   * @throws the reason of `signal` when it is aborted
   * @throws {TypeError} for a `last_event_id` that is none
   */
  stream(task: TaskRef, options: StreamOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    const { types, silenceSeconds = SILENCE_SECONDS, awaySeconds = AWAY_SECONDS } = options;
    const silenceMs = limitMs('silenceSeconds', silenceSeconds);
    const workflowId = idOf(task);
    const lastEventId = readCursor(options.last_event_id);
    const closed = new AbortController();
    const { signal } = closed;
    const patience = new Patience(awaySeconds, signal);
    const path = '/api/v1/stream/sse';
    const query = { workflow_id: workflowId, types: types?.join(',') };
    const open = (after: string | null) => {
      const headers: Record<string, string> = after === null ? {} : { 'Last-Event-ID': after };
      // Coming back is tried again by who follows.
      const maxRetries = patience.reached ? 0 : undefined;
      const limits = { longestMs: silenceMs, maxRetries };
      return this.#transport.open({ method: 'GET', path, query, headers }, signal, limits);
    };
    const events = follow({ open, lastEventId, patience, silenceMs, signal });
    return leavable(closing(events, closed, options.signal), closed);
  }
}

type StreamEvents = AsyncGenerator<StreamEvent, void, undefined>;

/** Gives the connection up with the signal, and when the stream is over or its reader leaves between two events. */
async function* closing(
  events: StreamEvents,
  closed: AbortController,
  signal: AbortSignal | undefined,
): StreamEvents {
  const unbind = abortedBy(closed, signal);
  try {
    yield* events;
  } finally {
    unbind();
    closed.abort();
  }
}

/** Lets the reader leave also while the next event is waited for, where a generator on its own would wait with them. */
function leavable(events: StreamEvents, closed: AbortController): StreamEvents {
  const left = new Error('the reader has left the stream');
  const next = events.next.bind(events);
  const leave = events.return.bind(events);
  return Object.assign(events, {
    async next(): Promise<IteratorResult<StreamEvent, void>> {
      try {
        return await next();
      } catch (error) {
        if (error === left) return { done: true, value: undefined };
        throw error;
      }
    },
    return(): Promise<IteratorResult<StreamEvent, void>> {
      closed.abort(left);
      return leave();
    },
  });
}

function readCursor(value: string | number | undefined): string | null {
  if (value === undefined) return null;
  const text = String(value);
  if (CURSOR.test(text)) return text;
  throw new TypeError(`last_event_id is neither the id of an event nor its number: ${text}`);
}
