import { idOf } from './ref.ts';

/** A review as it was read: what a decision on it is bound to. */
export interface ReviewState {
  /** Whose review it is. */
  workflow_id: string;
  /** Version that was read. */
  version: number;
}

/** What a review call is bound to where it is given an id: the version that was seen, or nothing. */
export type Condition = { version: number } | { unconditional: true };

/**
 * `If-Match` of a review call: the version of the state that it was given, unless the options name another one.
 * @throws {TypeError} where neither says which version was seen: nothing is decided unseen by mistake
 */
export function conditionOf(
  target: string | ReviewState,
  options: { version?: number | undefined; unconditional?: boolean | undefined },
): { workflowId: string; headers: Record<string, string> } {
  const workflowId = idOf(target);
  if (options.unconditional) return { workflowId, headers: {} };
  const version = options.version ?? (typeof target === 'string' ? undefined : target.version);
  if (Number.isInteger(version)) return { workflowId, headers: { 'If-Match': `"${version}"` } };
  throw new TypeError(
    'pass the state that was read, or { version }, or { unconditional: true } to decide on whatever stands there now',
  );
}
