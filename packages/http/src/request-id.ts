import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Middleware } from './middleware.ts';

const SAFE_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;
/** W3C Trace Context §3.2: version, trace id, parent id, flags; a later version may carry more. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const TRACESTATE_LIMIT = 512;

/** The trace that a request belongs to; `traceparent` and `tracestate` are passed on as they came. */
export interface Trace {
  traceId: string;
  traceparent: string;
  tracestate?: string;
}

const ids = new WeakMap<IncomingMessage, string>();

/** Gives every request an id, the client's own where it is sane, and puts it on the answer. */
export function requestId(newId: () => string = randomUUID): Middleware {
  return (req, res, next) => {
    const sent = req.headers['x-request-id'];
    const id = typeof sent === 'string' && SAFE_ID.test(sent) ? sent : newId();
    ids.set(req, id);
    res.setHeader('X-Request-ID', id);
    next();
  };
}

/** The id of a request; `""` where {@link requestId} has not run. */
export function requestIdOf(req: IncomingMessage): string {
  return ids.get(req) ?? '';
}

/** The trace of a request, undefined where it names none or a malformed one (W3C Trace Context §3.2.2). */
export function traceOf(req: IncomingMessage): Trace | undefined {
  const { traceparent, tracestate } = req.headers;
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, parentId, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (!traceId || !parentId || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  const state =
    typeof tracestate === 'string' && tracestate.length <= TRACESTATE_LIMIT ? tracestate : undefined;
  return { traceId, traceparent, ...(state ? { tracestate: state } : {}) };
}
