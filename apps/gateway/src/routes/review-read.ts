import type { IncomingMessage, ServerResponse } from 'node:http';
import { REVIEW_WAIT_SECONDS, sameOwner, type WorkflowId } from '@plangate/contracts';
import { fromRefusal, HttpError, sendJson } from '@plangate/http';
import { diffPlans, entityTags, mergeChains, refuseAccess, reviewNotFound } from '@plangate/review';
import type { StoredBody } from '@plangate/review/redis';
import type { Caller } from '@plangate/review/use-cases';
import { waitForReview } from '../first-plan.ts';
import { callerOf, type GatewayParts } from '../parts.ts';
import { queryOf, wholeNumber } from './request.ts';
import { readAllowed, refuseMissing } from './review-access.ts';

/** The reading routes of a review (contract/plan-review.md §2.1). */
export function reviewReadRoutes(parts: GatewayParts) {
  /** Waits where the caller's own task is still making its first plan. */
  async function awaitReview(
    res: ServerResponse,
    id: WorkflowId,
    caller: Caller,
    waitSeconds: number,
  ): Promise<StoredBody> {
    const record = await parts.tasks.load(id);
    if (!record || !sameOwner(record.owner, caller.owner) || !record.review) {
      throw fromRefusal(await refuseMissing(parts, id, caller));
    }
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    if (res.closed) gone.abort();
    const signal = AbortSignal.any([gone.signal, parts.stopping]);
    const stored = await waitForReview(parts, id, { waitMs: waitSeconds * 1_000, signal });
    if (stored) return stored;
    if (parts.stopping.aborted) {
      throw new HttpError(503, 'stopping', 'The gateway is stopping; please try again', {
        headers: { 'Retry-After': '1' },
      });
    }
    throw fromRefusal(reviewNotFound());
  }

  return {
    /** The hot path: nothing is parsed, and the body goes out as the commit wrote it. */
    async read(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const query = queryOf(req);
      const wait = wholeNumber(query, 'wait', REVIEW_WAIT_SECONDS);
      const caller = callerOf(parts, req);
      const stored = (await parts.reviews.readBody(id)) ?? (await awaitReview(res, id, caller, wait));
      const refusal = refuseAccess(stored.owner, caller.owner, caller.authOff);
      if (refusal) throw fromRefusal(refusal);
      const etag = etagOf(stored.version);
      res.setHeader('ETag', etag);
      res.setHeader('Cache-Control', 'no-cache');
      if (isFresh(req.headers['if-none-match'], etag)) {
        res.statusCode = 304;
        res.end();
        return;
      }
      sendSerialised(res, stored.body);
    },

    async versions(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const read = await readAllowed(parts, id, callerOf(parts, req));
      if (!read.ok) throw fromRefusal(read);
      sendJson(res, 200, { versions: await parts.reviews.plans(id) }, { ETag: etagOf(read.version) });
    },

    async diff(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const read = await readAllowed(parts, id, callerOf(parts, req));
      if (!read.ok) throw fromRefusal(read);
      const query = queryOf(req);
      const plans = await parts.reviews.plans(id);
      const named = (name: string) => plans.find(({ version }) => String(version) === query.get(name));
      const [from, to] = [named('from'), named('to')];
      if (!from || !to) throw new HttpError(400, 'unknown_version', 'Unknown plan version');
      sendJson(res, 200, diffPlans(from, to), { ETag: etagOf(read.version) });
    },

    /**
     * Outlives the review: then its task says whose it was. The version is read before the entries, so that an
     * accepted chain that ends before the `ETag` has lost its end.
     */
    async audit(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const caller = callerOf(parts, req);
      const read = await readAllowed(parts, id, caller);
      const isOwn = read.ok || sameOwner(await parts.tasks.loadOwner(id), caller.owner);
      if (!read.ok && !isOwn) throw fromRefusal(read);
      const { accepted, refused, foreign } = await parts.reviews.audit(id);
      const entries = mergeChains([accepted, refused, foreign]);
      if (!read.ok && entries.length === 0) throw fromRefusal(read);
      sendJson(res, 200, { entries }, read.ok ? { ETag: etagOf(read.version) } : {});
    },
  };
}

/** Strong entity tag of a version (RFC 9110 §8.8.3). */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** If-None-Match compares weakly (RFC 9110 §13.1.2). */
function isFresh(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return entityTags(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}

function sendSerialised(res: ServerResponse, body: string): void {
  res.statusCode = 200;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(body);
}
