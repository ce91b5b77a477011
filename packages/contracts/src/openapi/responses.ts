import { type Api, SHARED_STATUS, type SharedError } from './api.ts';
import type { HeaderName } from './headers.ts';
import type { Answer, Route } from './route.ts';
import type { JsonSchema, Show } from './schemas.ts';

const HEADERS_OF_ERRORS: Record<string, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** `components.responses` of a document. */
export function sharedResponses(api: Api, show: Show): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(api.errors.shared).map(([name, text]) => [
      name,
      response(failure(api, SHARED_STATUS[name as SharedError], text), show),
    ]),
  );
}

/** `responses` of a route; its own win over the shared ones. */
export function responses(api: Api, route: Route, show: Show): Record<string, JsonSchema> {
  const own = Object.entries(route.errors ?? {}).map(
    ([status, text]) => [status, failure(api, status, text)] as const,
  );
  const answers = [...Object.entries(route.answers), ...own];
  return {
    ...Object.fromEntries(sharedBy(route).map((name) => [SHARED_STATUS[name], refTo('responses', name)])),
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

function failure({ errors }: Api, status: string, description: string): Answer {
  return { description, schema: errors.body, headers: HEADERS_OF_ERRORS[status] ?? [] };
}

function response({ description, schema, mediaType, headers = [] }: Answer, show: Show): JsonSchema {
  const names: HeaderName[] = ['X-Request-ID', ...headers];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, refTo('headers', name)])),
    ...(schema ? { content: json(show(schema, 'output'), mediaType) } : {}),
  };
}

/** The headers that the answers of these routes have. */
export function headersIn({ routes }: Api): HeaderName[] {
  const own = routes.flatMap(({ answers }) => Object.values(answers).flatMap(({ headers = [] }) => headers));
  return [...new Set<HeaderName>(['X-Request-ID', ...own, ...Object.values(HEADERS_OF_ERRORS).flat()])];
}

/** `content` of a body. */
export function json(schema: JsonSchema, mediaType = 'application/json'): JsonSchema {
  return { [mediaType]: { schema } };
}

function refTo(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}
