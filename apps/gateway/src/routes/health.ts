import type { IncomingMessage, ServerResponse } from 'node:http';
import { health, readiness } from '@plangate/http';
import type { GatewayParts } from '../parts.ts';

/** The open routes for those who run the gateway (contract/plan-review.md §1). */
export function healthRoutes({ version, checks, metrics }: GatewayParts) {
  return {
    health: health('gateway', { version }),
    readiness: readiness(checks, { version }),
    async metrics(_req: IncomingMessage, res: ServerResponse): Promise<void> {
      const text = await metrics.metrics();
      res.statusCode = 200;
      res.setHeader('Content-Type', metrics.contentType);
      res.setHeader('Content-Length', Buffer.byteLength(text));
      res.end(text);
    },
  };
}
