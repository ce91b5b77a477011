import { GATEWAY, openApiDocument } from '@plangate/contracts/openapi';
import { compile, type JSONSchema } from 'json-schema-to-typescript';

/**
 * The module that stands in for `src/wire.ts` in the published package: the shapes of the contracts as plain types,
 * without zod. Made of the schemas of the OpenAPI document, which have the same names.
 */
export async function wireTypes(): Promise<string> {
  const { components } = openApiDocument(GATEWAY, { version: '0' });
  const text = JSON.stringify(components['schemas']).replaceAll('#/components/schemas/', '#/definitions/');
  const definitions = JSON.parse(text) as Record<string, JSONSchema>;
  for (const schema of Object.values(definitions)) closeObjects(schema);
  const root: JSONSchema = { title: 'Wire', type: 'object', additionalProperties: false, definitions };
  const types = await compile(root, 'Wire', {
    bannerComment: '',
    unreachableDefinitions: true,
    unknownAny: true,
    format: false,
  });
  return types.replace(PROVENANCE, '').replace(ROOT, '');
}

/** What the compiler notes above every type, without saying anything of it. */
const PROVENANCE =
  /\/\*\*\n \* This interface was referenced by `Wire`'s JSON-Schema\n \* via the `definition` "\w+"\.\n \*\/\n/g;

/** What all of them hang on, which is no type of the wire. */
const ROOT = /^export interface Wire \{\s*\}\n/m;

/** A type without an index signature wherever the schema lists the properties: other ones are not known to callers. */
function closeObjects(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if ('properties' in schema && !('additionalProperties' in schema)) {
    Object.assign(schema, { additionalProperties: false });
  }
  for (const part of Object.values(schema)) closeObjects(part);
}
