import { ErrorBody } from '../errors.ts';
import type { HeaderName } from './headers.ts';
import type { Answer, Route } from './route.ts';
import type { JsonSchema, Show } from './schemas.ts';

const HEADERS_OF_ERRORS: Record<string, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Errors that mean the same on every route that has them. */
const SHARED_ERRORS = {
  Unauthorized: { status: '401', text: 'The credential is missing or wrong.' },
  BodyTooLarge: { status: '413', text: 'The body is too large; `limit` says how many bytes it may have.' },
  UnsupportedMediaType: { status: '415', text: 'The body is not `application/json`, or is compressed.' },
  IdempotencyRunning: { status: '409', text: 'A request with this `Idempotency-Key` is still running.' },
  IdempotencyMismatch: { status: '422', text: 'The `Idempotency-Key` was used with another body.' },
  TooManyRequests: {
    status: '429',
    text:
      'More requests than the limits allow; `window` says which of them. `X-RateLimit-Limit-Minute`, ' +
      '`X-RateLimit-Remaining-Minute` and `X-RateLimit-Reset` (seconds since 1970) come with every counted answer.',
  },
  StoreUnavailable: { status: '503', text: 'Redis cannot be reached, or does not answer in time.' },
  Unexpected: { status: 'default', text: 'Any other error: `error` is for people, `code` for programs.' },
};
type SharedError = keyof typeof SHARED_ERRORS;

/** `components.responses` of the document. */
export function sharedResponses(show: Show): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(SHARED_ERRORS).map(([name, { status, text }]) => [
      name,
      response(failure(status, text), show),
    ]),
  );
}

/** `responses` of a route; its own win over the shared ones. */
export function responses(route: Route, show: Show): Record<string, JsonSchema> {
  const own = Object.entries(route.errors ?? {}).map(
    ([status, text]) => [status, failure(status, text)] as const,
  );
  const answers = [...Object.entries(route.answers), ...own];
  return {
    ...Object.fromEntries(
      sharedBy(route).map((name) => [SHARED_ERRORS[name].status, refTo('responses', name)]),
    ),
    ...Object.fromEntries(answers.map(([status, answer]) => [status, response(answer, show)])),
  };
}

function sharedBy({ method, access, unlimited, body }: Route): SharedError[] {
  return [
    ...(access === 'open' ? [] : (['Unauthorized', 'StoreUnavailable'] as const)),
    ...(body ? (['BodyTooLarge', 'UnsupportedMediaType'] as const) : []),
    ...(method === 'post' ? (['IdempotencyRunning', 'IdempotencyMismatch'] as const) : []),
    ...(access === 'required' && !unlimited ? (['TooManyRequests'] as const) : []),
    'Unexpected',
  ];
}

function failure(status: string, description: string): Answer {
  return { description, schema: ErrorBody, headers: HEADERS_OF_ERRORS[status] ?? [] };
}

function response({ description, schema, mediaType, headers = [] }: Answer, show: Show): JsonSchema {
  const names: HeaderName[] = ['X-Request-ID', ...headers];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, refTo('headers', name)])),
    ...(schema ? { content: json(show(schema, 'output'), mediaType) } : {}),
  };
}

/** `content` of a body. */
export function json(schema: JsonSchema, mediaType = 'application/json'): JsonSchema {
  return { [mediaType]: { schema } };
}

function refTo(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}
