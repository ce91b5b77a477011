import type { ErrorBody } from '../wire.ts';
import { adviceFor } from './advice.ts';
import type { Failure } from './failure.ts';

/** The class that stands for an answer's status. */
export function errorOf(failure: Failure): StatusError {
  const Class = CLASSES[failure.status] ?? (failure.status >= 500 ? InternalServerError : StatusError);
  return new Class(failure);
}

/** Every error that this package throws of its own; abort reasons and mistakes in arguments aside. */
export class PlangateError extends Error {
  override name = 'PlangateError';
}

/** No answer: the gateway could not be reached, or the connection broke before the answer was there. */
export class ConnectionError extends PlangateError {
  override name = 'ConnectionError';
}

/** No answer within `timeoutSeconds`. What was asked may have been done all the same. */
export class TimeoutError extends PlangateError {
  override name = 'TimeoutError';
}

/** The gateway answered with a status that is no success; its message says what to do. */
export class StatusError extends PlangateError {
  override name = 'StatusError';
  /** The status of the answer. */
  readonly status: number;
  /** Slug for programs, as in the table of error codes; `unknown` where the answer was not Plangate's. */
  readonly code: string;
  /** `X-Request-ID`, which stands in the gateway's log; null where there was none. */
  readonly requestId: string | null;
  /** The whole error body, further fields such as `limit` included. */
  readonly body: ErrorBody | null;
  /** When to come back, in seconds; null where the gateway does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(failure: Failure) {
    const { status, headers, body } = failure;
    super(messageOf(failure));
    this.status = status;
    this.code = body?.code ?? 'unknown';
    this.requestId = headers.get('x-request-id');
    this.body = body;
    this.retryAfterSeconds = retryAfterOf(headers);
  }

  /** What the gateway said, without advice. */
  get text(): string {
    return this.body?.error ?? `HTTP ${this.status}`;
  }
}

/** 400: something in the request is wrong. */
export class BadRequestError extends StatusError {
  override name = 'BadRequestError';
}

/** 401: no credential, or a wrong one. */
export class AuthenticationError extends StatusError {
  override name = 'AuthenticationError';
}

/** 403: the credential may not do this. */
export class PermissionDeniedError extends StatusError {
  override name = 'PermissionDeniedError';
}

/** 404: there is no such thing, or it belongs to somebody else. */
export class NotFoundError extends StatusError {
  override name = 'NotFoundError';
}

/** 409: the state of a review or task forbids it, or the review is no longer the one that was read. */
export class ConflictError extends StatusError {
  override name = 'ConflictError';
  /** Version of the review now; null for conflicts of a task. */
  readonly currentVersion: number | null;

  constructor(failure: Failure) {
    super(failure);
    const version = failure.body?.['version'];
    this.currentVersion = typeof version === 'number' ? version : versionOf(failure.headers);
  }
}

/** 422: the idempotency key was used for another request. */
export class UnprocessableEntityError extends StatusError {
  override name = 'UnprocessableEntityError';
}

/** 428: the gateway wants every decision to say which version it was made on. */
export class PreconditionRequiredError extends StatusError {
  override name = 'PreconditionRequiredError';
}

/** 429: too many requests or streams. */
export class RateLimitError extends StatusError {
  override name = 'RateLimitError';
}

/** 500 and other faults of the gateway. */
export class InternalServerError extends StatusError {
  override name = 'InternalServerError';
}

/** 502: the model behind the gateway failed, or a proxy did not reach the gateway. */
export class BadGatewayError extends InternalServerError {
  override name = 'BadGatewayError';
}

/** 503: a part that this request needs is away; it comes back. */
export class ServiceUnavailableError extends InternalServerError {
  override name = 'ServiceUnavailableError';
}

const CLASSES: Record<number, typeof StatusError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  428: PreconditionRequiredError,
  429: RateLimitError,
  502: BadGatewayError,
  503: ServiceUnavailableError,
};

/** The version that an `ETag` names; null where it names none. */
export function versionOf(headers: Headers): number | null {
  const version = /^(?:W\/)?"(\d+)"$/.exec(headers.get('etag') ?? '')?.[1];
  return version === undefined ? null : Number(version);
}

/** `Retry-After` in seconds, sent as a number or as a date (RFC 9110 §10.2.3); null where there is none. */
export function retryAfterOf(headers: Headers, now: number = Date.now()): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  // Every form of date names its month; `Date.parse` also makes one of `1.5`.
  const at = /[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000));
}

function messageOf(failure: Failure): string {
  const { status, headers, body, request } = failure;
  const requestId = headers.get('x-request-id');
  const said = body
    ? `${body.error} (${status} ${body.code})`
    : `HTTP ${status} without an error of Plangate`;
  const advice = adviceFor(failure);
  return [`${request}: ${said}.`, advice, requestId ? `Request ${requestId}.` : '']
    .filter((part) => part !== '')
    .join(' ');
}
