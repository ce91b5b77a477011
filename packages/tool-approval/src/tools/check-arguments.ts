import { type OutputUnit, Validator } from '@cfworker/json-schema';
import type { JsonObject } from '@plangate/contracts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ArgumentFault } from '../texts.ts';
import { closedSchema } from './closed-schema.ts';
import type { CheckingSchema, Tool } from './tool.ts';

/** What is wrong with the arguments, field by field; an empty list where nothing is. */
export type ArgumentCheck = (args: JsonObject) => Promise<ArgumentFault[]>;

/**
 * The check of a tool's arguments. JSON Schema is interpreted (draft 2020-12): no code is generated from it, so
 * that a schema from the settings cannot become code, and the check runs where `new Function` is forbidden.
 */
export function argumentCheck(tool: Tool): ArgumentCheck {
  const check = checkOf(tool);
  return async (args) => {
    // The validator cannot say where it is in a value with such a name, and throws.
    const faults = illFormedNames(args).map((name) => ({ path: name.toWellFormed(), problem: UNRECOGNIZED }));
    return faults.length > 0 ? faults : check(args);
  };
}

function checkOf(tool: Tool): ArgumentCheck {
  const validator = new Validator(
    closedSchema(jsonSchemaOf(tool.parameters)) as ConstructorParameters<typeof Validator>[0],
    '2020-12',
    false,
  );
  const { parameters } = tool;
  if (!isCheckingSchema(parameters)) return async (args) => faultsOf(validator.validate(args).errors);
  return async (args) => {
    const own = await parameters['~standard'].validate(structuredClone(args));
    const faults = (own.issues ?? []).map(faultOf);
    const known = new Set(faults.map(({ path }) => path));
    const unnamed = faultsOf(validator.validate(args).errors).filter(
      ({ path, problem }) => problem === UNRECOGNIZED && !known.has(path),
    );
    return [...faults, ...unnamed];
  };
}

/** The JSON Schema of a tool's arguments, for the model. */
export function jsonSchemaOf(parameters: Tool['parameters']): JsonObject {
  return isCheckingSchema(parameters)
    ? (parameters['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as JsonObject)
    : parameters;
}

function illFormedNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name.isWellFormed() ? [] : [name]),
    ...illFormedNames(member),
  ]);
}

const UNRECOGNIZED = 'Unrecognized field';
const ROOT = 'args';

function isCheckingSchema(parameters: Tool['parameters']): parameters is CheckingSchema {
  return '~standard' in parameters;
}

function faultOf({ path = [], message }: StandardSchemaV1.Issue): ArgumentFault {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return { path: keys.join('.') || ROOT, problem: message };
}

/** Keywords that only say that something below them does not hold. */
const WRAPPERS = new Set([
  '$ref',
  'additionalProperties',
  'allOf',
  'else',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

function faultsOf(errors: readonly OutputUnit[]): ArgumentFault[] {
  const said = errors.filter(({ keyword }) => !WRAPPERS.has(keyword)).map(fieldOf);
  // A field with a fault in it counts as unevaluated too: that says nothing new.
  const news = said.filter(
    (fault) =>
      fault.problem !== UNRECOGNIZED ||
      !said.some(({ path, problem }) =>
        path === fault.path ? problem !== UNRECOGNIZED : path.startsWith(`${fault.path}.`),
      ),
  );
  return news.filter((a, i) => news.findIndex((b) => a.path === b.path && a.problem === b.problem) === i);
}

function fieldOf({ instanceLocation, keyword, error }: OutputUnit): ArgumentFault {
  const keys = instanceLocation
    .split('/')
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = keys.join('.');
  if (keyword === 'false') return { path: path || ROOT, problem: UNRECOGNIZED };
  const missing = keyword === 'required' ? /"(.*)"/su.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { path: [...keys, missing].join('.'), problem: 'Field required' };
  return { path: path || ROOT, problem: error };
}
