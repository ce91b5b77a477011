import type { Api } from './api.ts';
import { HEADERS } from './headers.ts';
import { IDEMPOTENCY_KEY } from './parameters.ts';
import { headersIn, json, responses, sharedResponses } from './responses.ts';
import type { Access, Parameter, Route } from './route.ts';
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

/** The OpenAPI 3.1 document of a service, made from its schemas and the table of its routes. */
export function openApiDocument(api: Api, { version }: { version: string }): OpenApiDocument {
  const { components, show } = createSchemas(api.schemas);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of api.routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(api, route, show) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: api.title,
      version,
      description: api.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: api.tags,
    paths,
    components: {
      schemas: components,
      headers: Object.fromEntries(
        headersIn(api).map((name) => [name, { description: HEADERS[name], schema: { type: 'string' } }]),
      ),
      responses: sharedResponses(api, show),
      securitySchemes: schemesOf(api),
    },
  };
}

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

/** Those that a route takes. */
function schemesOf({ routes }: Api): Record<string, JsonSchema> {
  const taken = new Set(
    routes.flatMap(({ access }) => SECURITY[access]).flatMap((scheme) => Object.keys(scheme)),
  );
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => taken.has(name)));
}

function operation(api: Api, route: Route, show: Show): JsonSchema {
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
    responses: responses(api, route, show),
  };
}

function parameter({ schema, ...rest }: Parameter, show: Show): JsonSchema {
  return { ...rest, schema: show(schema, 'input') };
}
