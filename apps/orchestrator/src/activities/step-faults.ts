import { isRedisUnavailable, isUnreadable, keysOf } from '@plangate/redis';
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';

/** How often a step is tried that fails for a reason of its own, not because a part is away. */
const OWN_FAULT_ATTEMPTS = 8;

/**
 * Tells faults that pass from faults that stay. While Redis is away a step is tried again for ever, and so is one
 * that meets a stored state which it cannot read: a newer version may have written that, or somebody mends it, and
 * giving up would lose what was decided. Both are told in the log and in Temporal. A step that fails otherwise is
 * given up after some tries, so that no task hangs.
 */
export const stepFaults: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    try {
      return await next(input);
    } catch (error) {
      if (
        error instanceof ApplicationFailure ||
        error instanceof CancelledFailure ||
        isRedisUnavailable(error)
      ) {
        throw error;
      }
      const { info, log, cancellationSignal } = Context.current();
      if (isUnreadable(error)) {
        log.error('stored state unreadable: the step waits until it is mended', {
          error,
          keys: keysOf(error),
        });
        throw error;
      }
      if (cancellationSignal.aborted || info.attempt < OWN_FAULT_ATTEMPTS) throw error;
      log.error('step given up', { error });
      throw ApplicationFailure.create({
        message: error instanceof Error ? error.message : String(error),
        type: 'unexpected',
        nonRetryable: true,
        ...(error instanceof Error ? { cause: error } : {}),
      });
    }
  },
};
