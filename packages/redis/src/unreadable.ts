/**
 * What is stored under `key` is not what this version of Plangate writes: another format, another type, or broken.
 * It is left as it is; whoever mends or removes it lets everything go on.
 */
export class UnreadableStateError extends Error {
  override readonly name = 'UnreadableStateError';
  readonly key: string;

  constructor(key: string, reason: string) {
    super(`${key} cannot be read: ${reason}`);
    this.key = key;
  }
}

/**
 * Reads stored text; any fault of `read` becomes an {@link UnreadableStateError}. Its reason names the place, never
 * what stands there: stored text may be a person's.
 */
export function readStored<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UnreadableStateError ? error : new UnreadableStateError(key, reasonOf(error));
  }
}

/** `error` of a command on `key`: a value of another type there is unreadable, anything else stays what it is. */
export function faultAt(key: string, error: Error): Error {
  return isWrongType(error) ? new UnreadableStateError(key, 'it has another type') : error;
}

/** True for a fault of stored data, which stays until somebody mends it; nothing was written. */
export function isUnreadable(error: unknown): error is Error {
  return error instanceof UnreadableStateError || isWrongType(error);
}

/** The keys that a fault is about, as far as it says so. */
export function keysOf(error: unknown): string[] {
  if (error instanceof UnreadableStateError) return [error.key];
  if (!(error instanceof Error) || !('command' in error)) return [];
  const { name, args } = error.command as { name?: unknown; args?: unknown };
  if (typeof name !== 'string' || !Array.isArray(args)) return [];
  const keys = /^eval(sha)?$/i.test(name) ? args.slice(2, 2 + Number(args[1])) : args.slice(0, 1);
  return keys.map(String);
}

/** The server's own word, or that of a script which looked before it wrote (`check_type` of append.lua). */
function isWrongType(error: unknown): boolean {
  return error instanceof Error && /^(WRONGTYPE|UNREADABLE) /.test(error.message);
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  const issue = firstIssue(error);
  return issue ? `${issue.path.join('.')}: ${issue.message}` : 'it is broken';
}

/** Of a zod error, without depending on zod. */
function firstIssue(error: unknown): { path: unknown[]; message: string } | undefined {
  if (!(error instanceof Error) || !('issues' in error) || !Array.isArray(error.issues)) return undefined;
  return error.issues[0];
}
