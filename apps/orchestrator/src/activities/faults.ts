import { LlmServiceError } from '@plangate/service';
import { ApplicationFailure, Context } from '@temporalio/activity';

/** How often a provider that answers with a failure is asked again. */
const PROVIDER_ATTEMPTS = 3;
const HEARTBEAT_EVERY_MS = 2_000;

/**
 * A call to llm-service inside an activity: heartbeats while it lasts, ends with the activity's cancel, and turns
 * faults into failures that say whether another attempt can help. The message may be shown to the person who asked.
 */
export async function askModel<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  return withHeartbeat(async () => {
    try {
      return await call(context.cancellationSignal);
    } catch (error) {
      if (context.cancellationSignal.aborted || !(error instanceof LlmServiceError)) throw error;
      context.log.warn('model call failed', { what, kind: error.kind, reason: error.message });
      const nonRetryable =
        error.kind === 'refused' || (error.kind === 'failed' && context.info.attempt >= PROVIDER_ATTEMPTS);
      throw ApplicationFailure.create({
        message: MESSAGES[error.kind](what),
        type: `llm_${error.kind}`,
        nonRetryable,
      });
    }
  });
}

/** Heartbeats every two seconds while `work` runs, so that a process that died is noticed soon. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const MESSAGES: Record<LlmServiceError['kind'], (what: string) => string> = {
  away: (what) => `the model service could not be reached to ${what}`,
  failed: (what) => `the model failed to ${what}`,
  refused: (what) => `the model service is not able to ${what}: check its settings`,
};
