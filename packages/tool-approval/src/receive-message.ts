import { cleanText, isBlank } from '@plangate/contracts/text';
import { EmptyMessageError, IllegalStepError, ReviewPendingError, TurnRunningError } from './errors.ts';
import type { ThreadState } from './state/thread-state.ts';

/**
 * Refuses a chat message that may not come now; changes nothing.
 * @throws {EmptyMessageError} where it is blank, before anything else
 * @throws {ReviewPendingError} while actions wait for a person
 * @throws {TurnRunningError} while calls of the turn are unanswered
 */
export function checkMessage(state: ThreadState, message: unknown): asserts message is string {
  requireText(message);
  if (state.phase === 'review') throw new ReviewPendingError();
  if (state.phase === 'tools') throw new TurnRunningError('chat');
}

/** @throws {EmptyMessageError} where nothing visible is said */
export function requireText(message: unknown): asserts message is string {
  if (typeof message !== 'string' || isBlank(cleanText(message))) throw new EmptyMessageError();
}

/**
 * Starts a turn with a person's message. In phase `model` too: there the model was asked and has not answered.
 * @param limit most steps of this turn
 * @throws as {@link checkMessage}
 */
export function receiveMessage(state: ThreadState, message: string, limit: number): ThreadState {
  checkMessage(state, message);
  return {
    ...state,
    messages: [...state.messages, { role: 'user', content: cleanText(message) }],
    phase: 'model',
    calls: [],
    step: 1,
    limit: checkLimit(limit),
    failed: null,
  };
}

/** A limit of steps: a whole number from 1. */
export function checkLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new IllegalStepError(`a limit of steps is a whole number from 1, not ${limit}`);
  }
  return limit;
}
