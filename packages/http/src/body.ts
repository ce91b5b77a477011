import type { IncomingMessage } from 'node:http';
import { isTooDeep } from '@plangate/contracts';
import { parse as parseContentType } from 'content-type';
import readRawBody from 'raw-body';
import { HttpError } from './errors.ts';

/** Body limit of every route but task submission (`contract/plan-review.md` §0). */
export const BODY_LIMIT_BYTES = 256 * 1024;
/** Body limit of task submission. */
export const TASK_BODY_LIMIT_BYTES = 1024 * 1024;

/** How long the rest of a refused body is taken and thrown away, so that the client can read the answer. */
const LINGER_MS = 2_000;

export interface BodyOptions {
  /** Longest body in bytes; default {@link BODY_LIMIT_BYTES}. */
  limitBytes?: number;
  /** True where no body at all counts as `{}`, as on the control routes. */
  optional?: boolean;
}

const bodies = new WeakMap<IncomingMessage, Promise<Buffer>>();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The body as a JSON object. Lone surrogates survive (cleaning is the schema's job), of a repeated member the
 * last one counts.
 * @throws {HttpError} 415 not `application/json`, 413 too large, 400 anything that is not a JSON object, or has a
 * `__proto__` member
 */
export async function readJsonObject(
  req: IncomingMessage,
  options: BodyOptions = {},
): Promise<Record<string, unknown>> {
  if (!hasBody(req)) {
    if (options.optional) return {};
    throw invalidBody();
  }
  // Clients that send an empty chunked body name no type.
  if (options.optional && (await readBody(req, options)).length === 0) return {};
  checkType(req);
  return parseObject(await readBody(req, options));
}

/**
 * The raw bytes of the body, read once and kept: a second call, such as one that hashes them, gets the same.
 * @throws {HttpError} 413 too large, 415 compressed, 400 broken off
 */
export function readBody(req: IncomingMessage, options: BodyOptions = {}): Promise<Buffer> {
  const known = bodies.get(req);
  if (known) return known;
  const body = read(req, options.limitBytes ?? BODY_LIMIT_BYTES);
  bodies.set(req, body);
  return body;
}

async function read(req: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new HttpError(415, 'unsupported_encoding', 'Unsupported content encoding');
  }
  try {
    return await readRawBody(req, { limit, length: req.headers['content-length'] ?? null });
  } catch (error) {
    if (isTooLarge(error)) {
      letGo(req);
      throw new HttpError(413, 'body_too_large', 'Request body too large', { fields: { limit } });
    }
    throw invalidBody();
  }
}

/** RFC 9110 §6.4: a request has a body when it says how long it is, or that it comes in chunks. */
function hasBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

function checkType(req: IncomingMessage): void {
  if (!isJsonType(req.headers['content-type'] ?? '')) {
    throw new HttpError(415, 'unsupported_media_type', 'Content-Type must be application/json');
  }
}

/** True for `application/json` in UTF-8: JSON that travels between systems has no other charset (RFC 8259 §8.1). */
export function isJsonType(contentType: string): boolean {
  const { type, parameters } = parseContentType(contentType);
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
  return type === 'application/json' && (charset === 'utf-8' || charset === 'utf8');
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    throw invalidBody();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidBody();
  // Deeper JSON serves nobody and overflows the stack of what walks it later.
  if (isTooDeep(value) || hasPrototypeMember(value)) throw invalidBody();
  return value as Record<string, unknown>;
}

/** A `__proto__` member would change the prototype of an object that it is assigned to. */
function hasPrototypeMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeMember);
}

/**
 * Throws away what is still on its way, so that a client which reads only after it has sent gets its answer, and
 * ends the connection of one that goes on and on.
 */
function letGo(req: IncomingMessage): void {
  req.resume();
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, LINGER_MS);
  timer.unref();
  req.once('end', () => clearTimeout(timer));
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 413;
}

function invalidBody(): HttpError {
  return new HttpError(400, 'invalid_body', 'Invalid request body');
}
