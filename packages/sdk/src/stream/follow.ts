import { PlangateError } from '../http/errors.ts';
import type { Patience } from '../http/patience.ts';
import type { StreamEvent } from './event.ts';
import { type Frame, readFrames } from './frames.ts';
import { RecentIds } from './recent-ids.ts';

/** What following a stream needs of its surroundings. */
export interface FollowParts {
  /** Opens the stream after the event with this id; null: from the first. */
  open: (lastEventId: string | null) => Promise<Response>;
  /** Where to begin. */
  lastEventId: string | null;
  patience: Patience;
  /** Longest silence in milliseconds before the connection counts as dead. */
  silenceMs: number;
  signal: AbortSignal;
}

const DEFAULT_RETRY_MS = 2_000;
const NO_CONTENT = 204;

/**
 * Every event of a workflow once, in order, to its end: a stream that breaks off is opened again after the last event
 * that was taken, and what comes twice all the same is left out (WHATWG HTML §9.2).
 * @throws the signal's reason; the error of an opening that is final
 */
export async function* follow(parts: FollowParts): AsyncGenerator<StreamEvent, void, undefined> {
  const { patience, silenceMs, signal } = parts;
  const seen = new RecentIds();
  let { lastEventId } = parts;
  let retryMs = DEFAULT_RETRY_MS;
  let told: string | undefined;
  const onRetry = (milliseconds: number) => {
    retryMs = milliseconds;
  };
  for (;;) {
    signal.throwIfAborted();
    let response: Response;
    try {
      response = await parts.open(lastEventId);
    } catch (error) {
      await patience.afterFault(error, retryMs);
      continue;
    }
    patience.reach();
    if (response.status === NO_CONTENT || response.body === null) return;
    requireStream(response);
    const opened = performance.now();
    const frames = readFrames(response.body, { silenceMs, onRetry });
    try {
      for (;;) {
        signal.throwIfAborted();
        const next = await nextFrame(frames, signal);
        if (next === null) break;
        if (next.event === 'done') return;
        const { id } = next;
        if (id !== undefined && id !== '') {
          if (!seen.add(id)) continue;
          lastEventId = id;
        }
        patience.progress();
        const event = eventOf(next);
        if (event?.event === 'gap') {
          // Told again where the connection broke before anything came after it.
          const gap = `${lastEventId} ${event.data.earliest}`;
          if (gap === told) continue;
          told = gap;
        }
        if (event) yield event;
      }
    } finally {
      await frames.return();
    }
    patience.lasted(performance.now() - opened);
    await patience.afterBreak(retryMs);
  }
}

/** Null where the stream is over, whichever way: only `done` says that there is no more. */
async function nextFrame(frames: AsyncGenerator<Frame>, signal: AbortSignal): Promise<Frame | null> {
  try {
    const { done, value } = await frames.next();
    return done ? null : value;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Data that is not JSON is no event of Plangate and left out. */
function eventOf({ event, id, data }: Frame): StreamEvent | null {
  if (event === undefined) return null;
  try {
    return { event, id: id ?? null, data: JSON.parse(data) } as StreamEvent;
  } catch {
    return null;
  }
}

function requireStream({ headers }: Response): void {
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return;
  throw new PlangateError(
    `no event stream, but ${type || 'nothing'}: what answers at baseUrl is not Plangate`,
  );
}
