import { aborted, abortedBy } from './abort.ts';
import { after, limitMs } from './timer.ts';

/** How long something may take. */
export interface Limit {
  /** Gives it up; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Default: as long as it takes. */
  timeoutSeconds?: number | undefined;
}

/**
 * Does work that heeds a signal, for so long at most, its pauses included. It is over at once, also where a part of
 * the work does not heed the signal.
 * @param late makes what is thrown once the time is over, of what the work has thrown
 */
export async function withinLimit<T>(
  { signal: outer, timeoutSeconds = Number.POSITIVE_INFINITY }: Limit,
  late: (cause: unknown) => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const longestMs = limitMs('timeoutSeconds', timeoutSeconds);
  const limit = new AbortController();
  const unbind = abortedBy(limit, outer);
  const end = after(longestMs, () => limit.abort());
  try {
    return await Promise.race([aborted(limit.signal), work(limit.signal)]);
  } catch (error) {
    outer?.throwIfAborted();
    throw limit.signal.aborted ? late(error) : error;
  } finally {
    end();
    unbind();
  }
}
