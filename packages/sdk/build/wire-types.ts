import { readFileSync } from 'node:fs';
import { GATEWAY, openApiDocument } from '@plangate/contracts/openapi';
import { compile, type JSONSchema } from 'json-schema-to-typescript';

/**
 * The module that stands in for `src/wire.ts` in the published package: the shapes of the contracts as plain types,
 * without zod. Made of the schemas of the OpenAPI document, which have the same names.
 * @throws {Error} where the document lacks one of the types
 */
export async function wireTypes(): Promise<string> {
  const { components } = openApiDocument(GATEWAY, { version: '0' });
  const text = JSON.stringify(components['schemas']).replaceAll('#/components/schemas/', '#/definitions/');
  const schemas = JSON.parse(text) as Record<string, JSONSchema>;
  const comments = exportedTypes();
  const definitions: Record<string, JSONSchema> = {};
  for (const name of comments.keys()) {
    const schema = schemas[name];
    if (!schema) throw new Error(`the OpenAPI document has no schema ${name}`);
    closeObjects(schema);
    definitions[name] = schema;
  }
  const root: JSONSchema = { title: 'Wire', type: 'object', additionalProperties: false, definitions };
  const types = await compile(root, 'Wire', {
    bannerComment: '',
    unreachableDefinitions: true,
    unknownAny: true,
    format: false,
  });
  return types
    .replace(PROVENANCE, '')
    .replace(ROOT, '')
    .replace(/^export (?:interface|type) (\w+)/gm, (start, name) => `${comments.get(name) ?? ''}${start}`);
}

/** The types that `src/wire.ts` exports, with their comments. */
function exportedTypes(): Map<string, string> {
  const source = readFileSync(new URL('../src/wire.ts', import.meta.url), 'utf8');
  const found = source.matchAll(/(\/\*\*[^\n]*\*\/\n)?^export type (\w+) =/gm);
  return new Map(Array.from(found, ([, comment = '', name = '']) => [name, comment]));
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
