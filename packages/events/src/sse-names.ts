import type { EventType } from '@plangate/contracts';

const RENAMED: Partial<Record<EventType, string>> = {
  LLM_PARTIAL: 'thread.message.delta',
  LLM_OUTPUT: 'thread.message.completed',
  STREAM_END: 'done',
  WORKFLOW_PAUSING: 'workflow.pausing',
  WORKFLOW_PAUSED: 'workflow.paused',
  WORKFLOW_RESUMED: 'workflow.resumed',
  WORKFLOW_CANCELLING: 'workflow.cancelling',
  WORKFLOW_CANCELLED: 'workflow.cancelled',
};

/** The name of an event on SSE (`contract/plan-review.md` §3, "Names"): its type, except for those that clients know by another one. */
export function sseName(type: EventType): string {
  return RENAMED[type] ?? type;
}

/**
 * Reads the `types` parameter of a stream: names by comma, as stored (`WORKFLOW_PAUSED`) or as on SSE
 * (`workflow.paused`), in any case. The predicate is true for the events that it lets through: all when it names
 * none, `STREAM_END` always.
 */
export function typeFilter(query: string): (event: { type: EventType }) => boolean {
  const wanted = new Set(
    query
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
  );
  if (wanted.size === 0) return () => true;
  return ({ type }) =>
    type === 'STREAM_END' || wanted.has(type.toLowerCase()) || wanted.has(sseName(type).toLowerCase());
}
