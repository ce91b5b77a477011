import type { OpenApiDocument } from '@plangate/contracts/openapi';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from '../../packages/http/test/serve.ts';

/** What a document says, as something to hold real requests and answers against. */
export interface Documented {
  /** `GET /api/v1/tasks/{id}` and the like. */
  operations: string[];
  /** Every documented answer that is no error, such as `GET /health 200`. */
  answers: string[];
  /** What the document has against an answer: its status, a header, a body, a field that it does not know. */
  against(operation: string, answer: Answer): unknown[];
  /** What it has against a JSON body that is sent. */
  againstRequest(operation: string, body: unknown): unknown[];
  /** What it has against a value of a named schema. */
  againstSchema(name: string, value: unknown): unknown[];
}

interface Response {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}

export function documented(document: OpenApiDocument): Documented {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  // Its types are those of CommonJS.
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(document, 'open').addSchema(withoutMore(document) as object, 'closed');
  const check = (kind: 'open' | 'closed', pointer: string[], value: unknown): ErrorObject[] => {
    const fragment = pointer.map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const validate = ajv.compile({ $ref: `${kind}#/${fragment.join('/')}` });
    return validate(value) ? [] : (validate.errors ?? []);
  };
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const placeOf = (operation: string) => {
    const [method = '', path = ''] = operation.split(' ');
    return ['paths', path, method.toLowerCase()];
  };
  const responsesOf = (operation: string) =>
    at(document, [...placeOf(operation), 'responses']) as Record<string, Response>;

  return {
    operations,
    answers: operations.flatMap((operation) =>
      Object.keys(responsesOf(operation))
        .filter((status) => Number(status) < 400)
        .map((status) => `${operation} ${status}`),
    ),
    against(operation, answer) {
      const found = responsesOf(operation)[answer.status];
      if (!found) return [`status ${answer.status}`];
      const place = found.$ref?.slice(2).split('/') ?? [
        ...placeOf(operation),
        'responses',
        String(answer.status),
      ];
      const { headers = {}, content } = at(document, place) as Response;
      const missing = Object.keys(headers).filter((name) => answer.headers[name.toLowerCase()] === undefined);
      const [mediaType] = Object.keys(content ?? {});
      if (mediaType === undefined) return [...missing, ...(answer.text === '' ? [] : ['a body'])];
      if (!answer.headers['content-type']?.startsWith(mediaType)) return ['content-type'];
      return [
        ...missing,
        ...check('closed', [...place, 'content', mediaType, 'schema'], answer.json ?? answer.text),
      ];
    },
    againstRequest(operation, body) {
      return check(
        'open',
        [...placeOf(operation), 'requestBody', 'content', 'application/json', 'schema'],
        body,
      );
    },
    againstSchema(name, value) {
      return check('closed', ['components', 'schemas', name], value);
    },
  };
}

/** The same document, in which an object has the fields that are named and no other. */
function withoutMore(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutMore);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutMore(value)]));
  return 'properties' in copy && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}

function at(node: unknown, place: string[]): unknown {
  return place.reduce((inner, key) => (inner as Record<string, unknown>)[key], node);
}
