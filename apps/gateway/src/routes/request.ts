import type { IncomingMessage } from 'node:http';
import { Id, parseWorkflowId, type WholeRange, type WorkflowId } from '@plangate/contracts';
import { HttpError, noteWorkflow, requestTarget } from '@plangate/http';

/** The query of a request; of a repeated parameter the first one counts. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  const target = requestTarget(req);
  const start = target.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : target.slice(start + 1));
}

/**
 * The workflow id that a request names, noted for its line in the log.
 * @param kind how the routes of this kind call it in a refusal (contract/plan-review.md §0)
 * @throws {HttpError} 400
 */
export function idOf(req: IncomingMessage, text: unknown, kind: 'task' | 'workflow'): WorkflowId {
  const id = parseWorkflowId(text);
  if (!id) throw invalidId(kind);
  noteWorkflow(req, id);
  return id;
}

/**
 * The session id that a request names.
 * @throws {HttpError} 400
 */
export function sessionIdOf(text: unknown): string {
  const id = Id.safeParse(text);
  if (!id.success) throw invalidSessionId();
  return id.data;
}

/** The refusal of an id that cannot even be decoded; any other error as it is. */
export function undecodableId(error: unknown, req: IncomingMessage): unknown {
  const path = requestTarget(req);
  if (!(error instanceof URIError)) return error;
  if (path.startsWith('/api/v1/sessions/')) return invalidSessionId();
  if (!path.startsWith('/api/v1/tasks/')) return error;
  return invalidId(/\/review(\/[a-z]+)?(\?|$)/.test(path) ? 'workflow' : 'task');
}

function invalidId(kind: 'task' | 'workflow'): HttpError {
  return new HttpError(400, `invalid_${kind}_id`, `Invalid ${kind} ID format`);
}

function invalidSessionId(): HttpError {
  return new HttpError(400, 'invalid_session_id', 'Invalid session_id format');
}

/**
 * A switch of the query, off where it is left out.
 * @throws {HttpError} 400 `Invalid <name> parameter` for anything but true, false, 1 and 0
 */
export function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)?.toLowerCase() ?? 'false';
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new HttpError(400, `invalid_${name}`, `Invalid ${name} parameter`);
}

/**
 * A whole number of the query.
 * @throws {HttpError} 400 `Invalid <name> parameter` for anything else and outside of the range
 */
export function wholeNumber(query: URLSearchParams, name: string, range: WholeRange): number {
  const text = query.get(name);
  if (text === null) return range.otherwise;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.low && value <= range.high) return value;
  throw new HttpError(400, `invalid_${name}`, `Invalid ${name} parameter`);
}
