import type { JsonObject } from '@plangate/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface SchemaFault {
  path: (string | number)[];
  message: string;
}

/**
 * What is wrong with a JSON Schema (draft 2020-12), each with its path in it; `[]` where nothing is. A keyword that
 * does not exist is a fault: a misspelt one would check nothing.
 */
export function schemaFaults(schema: JsonObject): SchemaFault[] {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    validateFormats: false,
    logger: false,
    allErrors: true,
  });
  try {
    if (ajv.validateSchema(schema)) {
      ajv.compile(schema);
      return [];
    }
  } catch (error) {
    return [
      { path: [], message: `no JSON Schema: ${error instanceof Error ? error.message : String(error)}` },
    ];
  }
  return (ajv.errors ?? []).map(({ instancePath, message }) => ({
    path: instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
    message: `no JSON Schema: ${message ?? 'invalid'}`,
  }));
}
