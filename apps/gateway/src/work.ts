/** Work that outlives its request; a process that stops waits for it. */
export interface Work {
  /** Runs to its end whatever becomes of the request; returns the same promise. */
  keep<T>(promise: Promise<T>): Promise<T>;
  /** Resolves when nothing is left, or after `limitMs`. */
  settled(limitMs: number): Promise<void>;
}

export function createWork(): Work {
  const running = new Set<Promise<unknown>>();
  return {
    keep(promise) {
      running.add(promise);
      const forget = () => running.delete(promise);
      promise.then(forget, forget);
      return promise;
    },
    async settled(limitMs) {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, limitMs);
      });
      await Promise.race([Promise.allSettled(running), limit]);
      clearTimeout(timer);
    },
  };
}
