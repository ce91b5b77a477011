import type { JsonObject } from '@plangate/contracts';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

/** A schema that checks values and can say itself as JSON Schema: zod from 4.2, and others of that standard. */
export interface CheckingSchema<Input = unknown> {
  readonly '~standard': StandardSchemaV1.Props<Input> & StandardJSONSchemaV1.Props<Input>;
}

/** What a tool learns of the call besides its arguments. */
export interface CallContext {
  threadId: string;
  /** Unique in its thread: with `threadId` a key under which an effect can be made idempotent. */
  callId: string;
}

/** A tool that the model may call. */
export interface Tool {
  name: string;
  description: string;
  /** A JSON Schema of an object, or a {@link CheckingSchema}. Fields that it does not name are refused. */
  parameters: JsonObject | CheckingSchema;
  /**
   * Does the work. `args` are exactly what was shown and decided about: checked, not changed (a schema's defaults
   * and transformations are not applied). What it returns is text for the model; anything else becomes JSON.
   */
  execute(args: never, context: CallContext): unknown;
}

/** A tool whose `execute` has the argument type of its schema. */
export function defineTool<Input>(tool: {
  name: string;
  description: string;
  parameters: CheckingSchema<Input>;
  execute(args: Input, context: CallContext): unknown;
}): Tool;
export function defineTool(tool: {
  name: string;
  description: string;
  parameters: JsonObject;
  execute(args: JsonObject, context: CallContext): unknown;
}): Tool;
export function defineTool(tool: Tool): Tool {
  return tool;
}
