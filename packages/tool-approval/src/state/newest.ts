import { IllegalStepError } from '../errors.ts';
import type { ModelMessage, ThreadState } from './thread-state.ts';

/** The newest message of the model, whose calls `state.calls` is about. */
export function modelMessage(state: ThreadState): ModelMessage {
  const message = state.messages.findLast((message) => message.role === 'assistant');
  if (!message) throw new IllegalStepError('the model has said nothing yet');
  return message;
}

/** The same messages with another one in the place of the model's newest. */
export function replaceModelMessage(state: ThreadState, message: ModelMessage): ThreadState['messages'] {
  const place = state.messages.findLastIndex(({ role }) => role === 'assistant');
  return state.messages.with(place, message);
}
