import type { ToolCall } from '@plangate/contracts';
import { IllegalStepError } from './errors.ts';
import { modelMessage } from './state/newest.ts';
import type { CallRecord, PendingReview, ThreadState } from './state/thread-state.ts';

/** One call and what was decided about it: all that an executor needs to know. Plain JSON. */
export interface CallOrder {
  call: ToolCall;
  gated: boolean;
  decision: CallRecord['decision'];
}

export type NextStep =
  /** Ask the model with all messages, then `receiveReply`. */
  | { do: 'call_model' }
  /** Show the request to a person and wait, then `applyDecisions`. */
  | { do: 'ask_person'; review: PendingReview }
  /** `claimCall`, keep the state, execute the order, then `recordResult`. */
  | { do: 'run_call'; index: number; order: CallOrder }
  /** A call was claimed and its driver died: `recordInterruption`. A driver that still runs the call never asks. */
  | { do: 'settle_interrupted'; index: number }
  /** The turn is over. `failed` names the tool that threw, where one did; then there is no answer. */
  | { do: 'end'; answer: string | null; failed: string | null };

/**
 * What has to be done next. All drivers are a loop around it: look, do, put the outcome into the state, keep it.
 * Calls run one at a time, in the order of the model's message, each at most once.
 */
export function nextStep(state: ThreadState): NextStep {
  switch (state.phase) {
    case 'model':
      return { do: 'call_model' };
    case 'review':
      if (!state.review) throw new IllegalStepError('a review without its actions');
      return { do: 'ask_person', review: state.review };
    case 'tools':
      return nextCall(state);
    case 'idle':
      return { do: 'end', answer: answerOf(state), failed: state.failed };
  }
}

/** The model's last word of a turn that is over; null where it has none. */
export function answerOf(state: ThreadState): string | null {
  const last = state.messages.at(-1);
  return state.phase === 'idle' && last?.role === 'assistant' ? last.content : null;
}

function nextCall(state: ThreadState): NextStep {
  const index = state.calls.findIndex(({ progress }) => progress !== 'done');
  const record = state.calls[index];
  const call = modelMessage(state).tool_calls[index];
  if (!record || !call) throw new IllegalStepError('no call is left to run');
  if (record.progress === 'claimed') return { do: 'settle_interrupted', index };
  return { do: 'run_call', index, order: { call, gated: record.gated, decision: record.decision } };
}
