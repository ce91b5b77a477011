/** Anything that JSON can say. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object; its own keys count, `__proto__` included. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** True for a JSON object, that is: no array, no null, no instance of a class. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Levels of nesting up to which JSON is taken: deeper JSON serves nobody and overflows the stack of what walks it. */
export const JSON_DEPTH_LIMIT = 100;

/** True where a value has more than {@link JSON_DEPTH_LIMIT} levels; an object or an array is one. */
export function isTooDeep(value: unknown, levels: number = JSON_DEPTH_LIMIT): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}
