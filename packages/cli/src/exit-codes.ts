import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServiceUnavailableError,
  TaskEndedError,
  TimeoutError,
} from '@plangate/sdk';

/** What the command ends with; the README and `--help` have the same list. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  endedWithoutResult: 5,
  notAllowed: 6,
  unavailable: 7,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_HELP = `
Exit codes:
  0  done
  1  failed
  2  the command was used wrongly, or with a value that the gateway does not take
  3  there is no such task, review or key
  4  conflict: the review or task is no longer as it was seen, or is closed
  5  the task ended without a result: rejected, cancelled, timed out, failed
  6  no credential, a wrong one, or one that may not do this
  7  the gateway or Redis cannot be reached or is overloaded, or no answer came in time
130  Ctrl-C
143  SIGTERM`;

/** The command was used in a way that cannot be right. */
export class UsageError extends Error {}

/** Ends the command with this code; its message is for the person. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code of what went wrong. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof ExitError) return error.exitCode;
  const isUsage =
    error instanceof UsageError || error instanceof TypeError || error instanceof BadRequestError;
  if (isUsage) return EXIT.usage;
  if (error instanceof NotFoundError) return EXIT.notFound;
  if (error instanceof ConflictError) return EXIT.conflict;
  if (error instanceof TaskEndedError) return EXIT.endedWithoutResult;
  if (error instanceof AuthenticationError || error instanceof PermissionDeniedError) return EXIT.notAllowed;
  const isAway =
    error instanceof ConnectionError ||
    error instanceof TimeoutError ||
    error instanceof RateLimitError ||
    error instanceof ServiceUnavailableError;
  return isAway ? EXIT.unavailable : EXIT.failure;
}
