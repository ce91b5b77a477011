import { cleanText, type Refusal, refuse, utf8Bytes } from '@plangate/contracts';

/** Largest `context` in bytes of its JSON text (`contract/plan-review.md` §1). */
export const CONTEXT_LIMIT_BYTES = 64 * 1024;
/** Deepest nesting taken: everything that reads the context later may recurse safely. */
export const CONTEXT_LIMIT_DEPTH = 64;

export type ShapedContext = { ok: true; context: Record<string, unknown> } | Refusal;

/**
 * The context of a submission as it is stored: its texts cleaned like all untrusted text, its size and depth
 * bounded. A key that could change an object's prototype on a later copy, and two keys that are the same once they
 * are cleaned, are refused (400): nothing may take another value's place unseen.
 */
export function shapeContext(given: Record<string, unknown>): ShapedContext {
  if (isDeeperThan(given, CONTEXT_LIMIT_DEPTH)) {
    return refuse(400, 'invalid_context', `context is nested deeper than ${CONTEXT_LIMIT_DEPTH} levels`, {
      limit: CONTEXT_LIMIT_DEPTH,
    });
  }
  const context = cleaned(given);
  if (context === UNSAFE) return refuse(400, 'invalid_body', 'Invalid request body');
  const length = utf8Bytes(JSON.stringify(context));
  if (length > CONTEXT_LIMIT_BYTES) {
    return refuse(400, 'context_too_long', 'context exceeds maximum length (64KB)', {
      limit: CONTEXT_LIMIT_BYTES,
      length,
    });
  }
  return { ok: true, context: context as Record<string, unknown> };
}

/** Level by level, not by recursion: the body of a request may nest deeper than the stack reaches. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item) => Object.values(item as object)).filter(isContainer);
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const UNSAFE = Symbol('key that is unsafe or stands twice');

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map(cleaned);
    return items.includes(UNSAFE) ? UNSAFE : items;
  }
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const key = cleanText(name);
    const clean = cleaned(member);
    if (key === '__proto__' || Object.hasOwn(result, key) || clean === UNSAFE) return UNSAFE;
    result[key] = clean;
  }
  return result;
}
