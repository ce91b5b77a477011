import type { WorkflowEvent } from '../wire.ts';

/** Types of events that have another name on a stream (`contract/plan-review.md` §3, "Names"). */
type Renamed =
  | 'LLM_PARTIAL'
  | 'LLM_OUTPUT'
  | 'STREAM_END'
  | 'WORKFLOW_PAUSING'
  | 'WORKFLOW_PAUSED'
  | 'WORKFLOW_RESUMED'
  | 'WORKFLOW_CANCELLING'
  | 'WORKFLOW_CANCELLED';

type ControlName =
  | 'workflow.pausing'
  | 'workflow.paused'
  | 'workflow.resumed'
  | 'workflow.cancelling'
  | 'workflow.cancelled';

/** What every event of a stream carries. */
type Common = Pick<WorkflowEvent, 'workflow_id' | 'agent_id' | 'seq' | 'stream_id' | 'payload'>;

/** An event under its name; `id` is where a later stream goes on after it (`last_event_id`). */
type Named<Name extends string, Data> = Name extends string ? { event: Name; id: string; data: Data } : never;

/** Most events: the one that `event` names, as the events routes have it too. */
export type TypedEvent =
  | Named<Exclude<WorkflowEvent['type'], Renamed>, WorkflowEvent>
  | Named<ControlName, Omit<WorkflowEvent, 'type'> & { type: ControlName }>;

/** A part of a text that is being written. */
export type DeltaEvent = Named<'thread.message.delta', Common & { delta: string }>;

/** The report, whole. */
export type CompletedEvent = Named<
  'thread.message.completed',
  Common & Pick<WorkflowEvent, 'timestamp'> & { response: string }
>;

/** Events between `requested` and `earliest` are no longer kept; what follows is the rest. It has no id. */
export interface GapEvent {
  event: 'gap';
  id: null;
  data: { requested: string | number; earliest: string | number; latest: string | number };
}

/** What a stream yields; `event` tells which it is. */
export type StreamEvent = TypedEvent | DeltaEvent | CompletedEvent | GapEvent;
