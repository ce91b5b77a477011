import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { findPrincipal } from './auth/principal.ts';
import { type Middleware, requestTarget } from './middleware.ts';
import { requestIdOf, traceOf } from './request-id.ts';

const SECRET_NAME = /^(api[_-]?key|(access_)?token)/i;

const workflows = new WeakMap<IncomingMessage, string>();

/**
 * One structured line per request when its answer has ended: no bodies, no headers, no credentials.
 * @param now clock in milliseconds
 */
export function logRequests(log: Logger, now: () => number = () => performance.now()): Middleware {
  return (req, res, next) => {
    const started = now();
    const path = loggedPath(requestTarget(req));
    res.once('close', () => {
      const principal = findPrincipal(req);
      const workflow_id = workflows.get(req);
      const trace = traceOf(req);
      const line = {
        method: req.method,
        path,
        status: res.statusCode,
        ms: Math.round((now() - started) * 10) / 10,
        request_id: requestIdOf(req),
        ...(trace ? { trace_id: trace.traceId } : {}),
        ...(workflow_id ? { workflow_id } : {}),
        ...(principal ? { user: principal.owner.user, tenant: principal.owner.tenant } : {}),
        ...(res.writableFinished ? {} : { aborted: true }),
      };
      if (res.statusCode >= 500) log.error(line, 'request');
      else log.info(line, 'request');
    });
    next();
  };
}

/** Names the workflow that a request is about, for its line in the log. */
export function noteWorkflow(req: IncomingMessage, workflowId: string): void {
  workflows.set(req, workflowId);
}

/** Path and query without the values of credentials. */
export function loggedPath(target: string): string {
  const start = target.indexOf('?');
  if (start < 0) return target;
  const query = target
    .slice(start + 1)
    .split('&')
    .map(withoutSecret)
    .join('&');
  return `${target.slice(0, start)}?${query}`;
}

function withoutSecret(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  return SECRET_NAME.test(decoded(name)) ? `${name}=[redacted]` : pair;
}

/** A name that cannot be decoded is looked at as it stands. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')).trim();
  } catch {
    return name;
  }
}
