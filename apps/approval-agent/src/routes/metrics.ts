import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

/** `GET /metrics`: the process in the format of Prometheus. */
export function metricsRoute(metrics: Registry) {
  return async (_req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const text = await metrics.metrics();
    res.statusCode = 200;
    res.setHeader('Content-Type', metrics.contentType);
    res.setHeader('Content-Length', Buffer.byteLength(text));
    res.end(text);
  };
}
