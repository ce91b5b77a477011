/**
 * Runs starts side by side. Where one fails the signal tells the others to give up, and the first error is
 * thrown once all have ended, so that nothing is still on its way up.
 */
export async function together<T>(
  starts: ((signal: AbortSignal) => Promise<T>)[],
  outer: AbortSignal | undefined,
): Promise<T[]> {
  const failed = new AbortController();
  const signal = outer ? AbortSignal.any([outer, failed.signal]) : failed.signal;
  let first: { error: unknown } | undefined;
  const results = await Promise.allSettled(
    starts.map(async (start) => {
      try {
        return await start(signal);
      } catch (error) {
        first ??= { error };
        failed.abort();
        throw error;
      }
    }),
  );
  if (first) throw first.error;
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
