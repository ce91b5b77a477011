/** The signals by which a person, a terminal or a system asks a process to end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Aborts, with the reason in words, once this process is asked to end or the process that runs it is gone.
 * Asking again changes nothing: a terminal and npm both pass Ctrl-C on.
 */
export function stopRequest(): AbortSignal {
  const request = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => request.abort(signal));
  if (process.channel) {
    process.on('disconnect', () => request.abort('its parent is gone'));
    process.channel.unref();
  }
  return request.signal;
}

/** Resolves with the reason when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const tell = () => resolve(String(signal.reason));
    if (signal.aborted) tell();
    else signal.addEventListener('abort', tell, { once: true });
  });
}
