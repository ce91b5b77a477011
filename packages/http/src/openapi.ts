import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Api, openApiDocument } from '@plangate/contracts/openapi';

/** `GET /openapi.json` (`contract/plan-review.md` §1): made at the first request, then always the same bytes. */
export function openApi(api: Api, { version }: { version: string }) {
  let document: Buffer | undefined;
  return async (_req: IncomingMessage, res: ServerResponse): Promise<void> => {
    document ??= Buffer.from(JSON.stringify(openApiDocument(api, { version })));
    res.statusCode = 200;
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Content-Length', document.length);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.end(document);
  };
}
