import { isJsonObject, type JsonObject, type JsonValue } from '@plangate/contracts/json';

/**
 * The same JSON Schema, closed: where it names fields of an object and says nothing of others, others are refused.
 * `additionalProperties` or `unevaluatedProperties` in the schema keep their say, and `{"type": "object"}` alone
 * stays open.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed = withClosedParts(schema);
  const silent = !('additionalProperties' in schema) && !('unevaluatedProperties' in schema);
  return silent && NAMING.some((keyword) => keyword in schema)
    ? { ...closed, unevaluatedProperties: false }
    : closed;
}

/** Keywords that name fields. Only the schema that stands at a value is closed, never one of those it is made of. */
const NAMING = ['properties', 'patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'if'];
const OF_VALUES = ['items', 'additionalItems', 'contains', 'additionalProperties', 'unevaluatedProperties'];
const NAMED_VALUES = ['properties', 'patternProperties'];
const COMPOSING = ['allOf', 'anyOf', 'oneOf'];
const COMPOSING_ONE = ['if', 'then', 'else', 'not'];
const DEFINITIONS = ['$defs', 'definitions', 'dependentSchemas'];

function withClosedParts(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (OF_VALUES.includes(keyword)) return [keyword, each(value, closedSchema)];
    if (keyword === 'prefixItems') return [keyword, each(value, closedSchema)];
    if (NAMED_VALUES.includes(keyword)) return [keyword, eachMember(value, closedSchema)];
    if (COMPOSING.includes(keyword) || COMPOSING_ONE.includes(keyword)) {
      return [keyword, each(value, withClosedParts)];
    }
    return [keyword, DEFINITIONS.includes(keyword) ? eachMember(value, withClosedParts) : value];
  });
  return Object.fromEntries(entries);
}

function each(value: JsonValue, close: (schema: JsonObject) => JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((part) => each(part, close));
  return isJsonObject(value) ? close(value) : value;
}

function eachMember(value: JsonValue, close: (schema: JsonObject) => JsonObject): JsonValue {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, each(part, close)]));
}
