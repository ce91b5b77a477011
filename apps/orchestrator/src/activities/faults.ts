import { LlmServiceError } from '@plangate/service';
import { ApplicationFailure, Context } from '@temporalio/activity';

/** Pauses in milliseconds before a model that failed is asked again. */
const PAUSES_MS = [1_000, 2_000];
const HEARTBEAT_EVERY_MS = 2_000;

/**
 * A call to llm-service inside an activity: heartbeats while it lasts and ends with the activity's cancel. A model
 * that fails is asked three times in all, and then the activity has failed for good; while the service is away the
 * engine tries the activity again. The message may be shown to the person who asked.
 */
export async function askModel<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  return withHeartbeat(async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call(context.cancellationSignal);
      } catch (error) {
        if (context.cancellationSignal.aborted || !(error instanceof LlmServiceError)) throw error;
        context.log.warn('model call failed', { what, kind: error.kind, reason: error.message });
        const pause = PAUSES_MS[tries - 1];
        if (error.kind !== 'failed' || pause === undefined) throw failureOf(error, what);
        await context.sleep(pause);
      }
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

function failureOf({ kind, missing }: LlmServiceError, what: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: missing
      ? `the model provider '${missing.provider}' has no key: ${missing.missing_key} is not set`
      : MESSAGES[kind](what),
    type: `llm_${kind}`,
    nonRetryable: kind !== 'away',
  });
}
