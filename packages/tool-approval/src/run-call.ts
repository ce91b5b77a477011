import { IllegalStepError } from './errors.ts';
import { modelMessage } from './state/newest.ts';
import type { ThreadState } from './state/thread-state.ts';
import { interruptedText } from './texts.ts';

/** How a call ended. Plain JSON. */
export interface CallResult {
  content: string;
  status: 'success' | 'error';
  /** The tool threw: after the other calls of the turn have run it is over, without a model call. */
  threw?: boolean;
}

/** Marks a call as begun. The state must be kept before the call runs: that is what makes it run at most once. */
export function claimCall(state: ThreadState, index: number): ThreadState {
  return withProgress(state, index, 'open', 'claimed');
}

/** Puts the result of a claimed call behind the others; after the last one the model is asked. */
export function recordResult(state: ThreadState, index: number, result: CallResult): ThreadState {
  const next = withProgress(state, index, 'claimed', 'done');
  const call = modelMessage(state).tool_calls[index];
  if (!call) throw new IllegalStepError(`there is no call ${index}`);
  const { content, status } = result;
  const messages = [
    ...state.messages,
    { role: 'tool' as const, content, name: call.name, tool_call_id: call.id, status },
  ];
  const failed = state.failed ?? (result.threw ? call.name : null);
  if (next.calls.some(({ progress }) => progress !== 'done')) return { ...next, messages, failed };
  return { ...next, messages, failed, phase: failed === null ? 'model' : 'idle', step: state.step + 1 };
}

/** Answers a claimed call whose driver died: nobody knows whether it ran, so it is not run again. */
export function recordInterruption(state: ThreadState, index: number): ThreadState {
  const call = modelMessage(state).tool_calls[index];
  return recordResult(state, index, { content: interruptedText(call?.name ?? ''), status: 'error' });
}

function withProgress(
  state: ThreadState,
  index: number,
  from: 'open' | 'claimed',
  to: 'claimed' | 'done',
): ThreadState {
  const record = state.calls[index];
  if (state.phase !== 'tools' || record?.progress !== from) {
    throw new IllegalStepError(`call ${index} cannot become ${to}`);
  }
  return { ...state, calls: state.calls.with(index, { ...record, progress: to }) };
}
