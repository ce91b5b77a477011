import { HEADERS } from './headers.ts';
import { IDEMPOTENCY_KEY } from './parameters.ts';
import { json, responses, sharedResponses } from './responses.ts';
import type { Access, Parameter, Route } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { createSchemas, type JsonSchema, type Show } from './schemas.ts';

/** An OpenAPI 3.1 document; only its outermost members are typed, the rest is for tools. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, JsonSchema>>;
  components: Record<string, Record<string, JsonSchema>>;
}

/** The OpenAPI 3.1 document of the gateway, made from the schemas and the table of routes. */
export function openApiDocument({ version }: { version: string }): OpenApiDocument {
  const { components, show } = createSchemas();
  const paths: OpenApiDocument['paths'] = {};
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, show) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Plangate',
      version,
      description:
        'Puts a person in front of an AI agent before a research plan is executed. Times are RFC 3339 in UTC, ' +
        'unknown fields of a body are ignored, every error is an `ErrorBody`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths,
    components: {
      schemas: components,
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      responses: sharedResponses(show),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const TAGS: { name: Route['tag']; description: string }[] = [
  { name: 'Tasks', description: 'Submit, read and control tasks.' },
  { name: 'Review', description: 'Read the plan of a task, change it, decide on it.' },
  { name: 'Sessions', description: 'Tasks that belong together, as a conversation.' },
  { name: 'Streams', description: 'Follow a task live.' },
  { name: 'Operation', description: 'For those who run the gateway.' },
];

const SECURITY_SCHEMES: Record<string, JsonSchema> = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The API key, or a JWT where the settings take one.',
  },
  apiKeyInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'For event streams only, because `EventSource` cannot send headers; kept out of the logs.',
  },
  tokenInQuery: { type: 'apiKey', in: 'query', name: 'token', description: 'Another name of `api_key`.' },
};

const SECURITY: Record<Access, Record<string, never[]>[]> = {
  required: [{ apiKey: [] }, { bearer: [] }],
  query: [{ apiKey: [] }, { bearer: [] }, { apiKeyInQuery: [] }, { tokenInQuery: [] }],
  open: [],
};

function operation(route: Route, show: Show): JsonSchema {
  const { id, tag, summary, description, access, body } = route;
  const parameters = [...(route.parameters ?? []), ...(route.method === 'post' ? [IDEMPOTENCY_KEY] : [])];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    security: SECURITY[access],
    ...(parameters.length > 0 ? { parameters: parameters.map((one) => parameter(one, show)) } : {}),
    ...(body ? { requestBody: { required: body.required, content: json(show(body.schema, 'input')) } } : {}),
    responses: responses(route, show),
  };
}

function parameter({ schema, ...rest }: Parameter, show: Show): JsonSchema {
  return { ...rest, schema: show(schema, 'input') };
}
