import { isJsonObject, isTooDeep, JSON_DEPTH_LIMIT, type JsonObject } from '@plangate/contracts/json';

export type ReadArguments = { ok: true; args: JsonObject } | { ok: false; raw: string; problem: string };

/**
 * Arguments as plain JSON: the one form that is shown, stored, checked and run. Takes an object or its JSON text.
 * Nothing in it is shared with the value that was given.
 */
export function readArguments(value: unknown): ReadArguments {
  if (typeof value === 'string') return parse(value);
  const raw = textOf(value);
  if (raw === undefined) return { ok: false, raw: String(value), problem: 'Not valid JSON' };
  return isJsonObject(value) ? parse(raw) : { ok: false, raw, problem: 'Expected an object' };
}

/** True where both say the same JSON; the order of the keys of an object says nothing. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** JSON text of a JSON value with the keys of every object in order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

function parse(raw: string): ReadArguments {
  const refused = (problem: string): ReadArguments => ({ ok: false, raw, problem });
  try {
    const args: unknown = JSON.parse(raw);
    if (!isJsonObject(args)) return refused('Expected an object');
    // What walks or copies a value is recursive, and workflow code that runs out of stack is tried again for ever.
    if (isTooDeep(args)) return refused(`Nested deeper than ${JSON_DEPTH_LIMIT} levels`);
    // 1e400 is read as Infinity and written as null.
    return hasInfinity(args) ? refused('A number is out of range') : { ok: true, args };
  } catch {
    return refused('Not valid JSON');
  }
}

function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
