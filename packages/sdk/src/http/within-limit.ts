import { after, limitMs } from './timer.ts';

/** How long something may take. */
export interface Limit {
  /** Gives it up; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Default: as long as it takes. */
  timeoutSeconds?: number | undefined;
}

/**
 * Does work that heeds a signal, for so long at most, its pauses included.
 * @param late makes what is thrown once the time is over, of what the work has thrown
 */
export async function withinLimit<T>(
  { signal: outer, timeoutSeconds = Number.POSITIVE_INFINITY }: Limit,
  late: (cause: unknown) => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const end = after(limitMs('timeoutSeconds', timeoutSeconds), () => limit.abort());
  try {
    return await work(outer ? AbortSignal.any([outer, limit.signal]) : limit.signal);
  } catch (error) {
    outer?.throwIfAborted();
    throw limit.signal.aborted ? late(error) : error;
  } finally {
    end();
  }
}
