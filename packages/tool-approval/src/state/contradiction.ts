import { sameJson } from '../json-args.ts';
import { buildReviewRequest } from '../payload.ts';
import type { ModelMessage, ThreadState } from './thread-state.ts';

/** What in a state of the right shape contradicts itself, in words; null where nothing does. */
export function contradictionOf(state: ThreadState): string | null {
  return faultOfHistory(state) ?? faultOfRecords(state) ?? faultOfReview(state);
}

/** Each call has an id of its own and one result, before anything else is said; the newest ones may lack it. */
function faultOfHistory({ messages, phase }: ThreadState): string | null {
  const ids = new Set<string>();
  let unanswered = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!unanswered.delete(message.tool_call_id)) return 'messages: a result without its call';
      continue;
    }
    if (unanswered.size > 0) return 'messages: a call without its result';
    if (message.role === 'user') continue;
    unanswered = new Set(message.tool_calls.map(({ id }) => id));
    for (const { id } of message.tool_calls) {
      if (ids.has(id)) return 'messages: an id of a call stands twice';
      ids.add(id);
    }
  }
  const open = phase === 'review' || phase === 'tools';
  return unanswered.size > 0 === open ? null : `phase: ${phase} does not fit the results`;
}

/** Records tell of the newest message's calls: done means answered, and nothing gated runs undecided. */
function faultOfRecords(state: ThreadState): string | null {
  const calls = newestCalls(state);
  if (state.calls.length !== calls.length) return 'calls: not one record for each call';
  const answered = new Set(state.messages.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : [])));
  for (const [i, record] of state.calls.entries()) {
    const id = calls[i]?.id ?? '';
    if ((record.progress === 'done') !== answered.has(id)) return 'calls: a record contradicts the results';
    if (record.progress === 'claimed' && state.phase !== 'tools') return 'calls: claimed while no call runs';
    const undecided = record.gated && record.decision !== 'approve' && record.decision !== 'edit';
    if (state.phase === 'tools' && record.progress !== 'done' && undecided) {
      return 'calls: a gated call without a decision';
    }
  }
  return null;
}

/** A review shows exactly the gated calls that are open, as they stand in the message. */
function faultOfReview(state: ThreadState): string | null {
  if ((state.review !== null) !== (state.phase === 'review')) return 'review: does not fit the phase';
  if (state.review === null) return null;
  const places = state.calls.flatMap((record, i) => (record.gated && record.progress === 'open' ? [i] : []));
  if (!sameJson(places, state.review.calls)) return 'review: not the calls that wait';
  const shown = newestCalls(state).filter((_, i) => places.includes(i));
  return sameJson(buildReviewRequest(shown), state.review.request)
    ? null
    : 'review: what was shown is not what would run';
}

/** Calls of the newest model message, where no person has spoken since. */
function newestCalls({ messages }: ThreadState): ModelMessage['tool_calls'] {
  const newest = messages.findLast(({ role }) => role !== 'tool');
  return newest?.role === 'assistant' ? newest.tool_calls : [];
}
