import { z } from 'zod';
/** JSON Schema 2020-12, which OpenAPI 3.1 takes as it is. */
export type JsonSchema = Record<string, unknown>;
/** Schemas of requests are shown as they are sent, those of answers as they are read. */
export type Direction = 'input' | 'output';
/** Schemas that a document names. */
export type NamedSchemas = Record<Direction, Record<string, z.ZodType>>;

/** The schema as JSON Schema: a reference where it has a name. */
export type Show = (schema: z.ZodType, direction: Direction) => JsonSchema;

/** `components.schemas` of the document, and how the rest of it points there. */
export function createSchemas(named: NamedSchemas): { components: Record<string, JsonSchema>; show: Show } {
  const registries = { input: registryOf(named.input), output: registryOf(named.output) };

  function show(schema: z.ZodType, direction: Direction): JsonSchema {
    const name = registries[direction].get(schema)?.id;
    if (name !== undefined) return { $ref: refTo(name) };
    if (schema instanceof z.ZodUnion) {
      return { anyOf: schema.options.map((option) => show(option as z.ZodType, direction)) };
    }
    return bare(z.toJSONSchema(schema, { io: direction, override: simplify }));
  }

  return {
    components: { ...convert(registries.input, 'input'), ...convert(registries.output, 'output') },
    show,
  };
}

type Registry = z.core.$ZodRegistry<{ id: string }>;

function registryOf(schemas: Record<string, z.ZodType>): Registry {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  return registry;
}

function convert(registry: Registry, io: Direction): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { io, uri: refTo, override: simplify });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]));
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`;
}

function bare({ $schema: _, $id: __, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/**
 * Leaves out what says nothing to a reader: bounds that every integer of JavaScript has, the pattern beside
 * `date-time`, names of properties that are text. Answers may gain fields, so clients must not refuse more of them.
 */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  delete jsonSchema.propertyNames;
}
