import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * A step of answering a request: it answers, or calls `next`. Express mounts it; a route in front of Express
 * calls the same function.
 */
export type Middleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void | Promise<void>;

/** One middleware out of several, run in order; the first error or answer ends the run. */
export function compose(...steps: Middleware[]): Middleware {
  return (req, res, next) => {
    const run = (index: number): void => {
      const step = steps[index];
      if (!step) {
        next();
        return;
      }
      let called = false;
      const once = (error?: unknown) => {
        if (called) return;
        called = true;
        if (error === undefined) run(index + 1);
        else next(error);
      };
      try {
        Promise.resolve(step(req, res, once)).catch(once);
      } catch (error) {
        once(error);
      }
    };
    run(0);
  };
}

/** Path and query as the client sent them: Express shortens `url` inside a mounted router. */
export function requestTarget(req: IncomingMessage): string {
  const { originalUrl } = req as { originalUrl?: string };
  return originalUrl ?? req.url ?? '/';
}
