/**
 * Aborts a controller together with a signal, which may outlive it by far: `AbortSignal.any` would leave something
 * behind on such a signal for every call, in Node 20 and 22.
 * @returns the function that ends the bond
 */
export function abortedBy(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return () => signal?.removeEventListener('abort', abort);
}

/** Never fulfilled; rejected with the signal's reason once it is aborted. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
