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
