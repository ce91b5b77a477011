import { isJsonObject, isTooDeep, JSON_DEPTH_LIMIT, type JsonObject } from '@plangate/contracts/json';

const OUT_OF_RANGE = 'A number is out of range; write it as text';

export type ReadArguments = { ok: true; args: JsonObject } | { ok: false; raw: string; problem: string };

/**
 * Arguments as plain JSON: the one form that is shown, stored, checked and run. Takes an object or its JSON text.
 * Nothing in it is shared with the value that was given.
 */
export function readArguments(value: unknown): ReadArguments {
  if (typeof value === 'string') return parse(value);
  const raw = textOf(value);
  if (raw === undefined) return { ok: false, raw: String(value), problem: 'Not valid JSON' };
  if (!isJsonObject(value)) return { ok: false, raw, problem: 'Expected an object' };
  // The text of an object has null in the place of Infinity.
  return !isTooDeep(value) && hasInexactNumber(value)
    ? { ok: false, raw, problem: OUT_OF_RANGE }
    : parse(raw);
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

/**
 * False for a number that would be handed on as another one: no JSON value holds Infinity (`1e400`), and an integer
 * beyond 2^53 - 1 has lost its last digits by the time it is looked at (RFC 8259 §6). Text holds both.
 */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function parse(raw: string): ReadArguments {
  const refused = (problem: string): ReadArguments => ({ ok: false, raw, problem });
  try {
    const args: unknown = JSON.parse(raw);
    if (!isJsonObject(args)) return refused('Expected an object');
    // What walks or copies a value is recursive, and workflow code that runs out of stack is tried again for ever.
    if (isTooDeep(args)) return refused(`Nested deeper than ${JSON_DEPTH_LIMIT} levels`);
    return hasInexactNumber(args) ? refused(OUT_OF_RANGE) : { ok: true, args };
  } catch {
    return refused('Not valid JSON');
  }
}

function hasInexactNumber(value: unknown): boolean {
  if (typeof value === 'number') return !isExactNumber(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInexactNumber);
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
