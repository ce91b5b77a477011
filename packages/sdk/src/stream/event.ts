import type { EventPayloads, WorkflowEvent } from '../wire.ts';

/** Types of events that have another name on a stream (`contract/plan-review.md` §3, "Names"). */
type Renamed = 'LLM_PARTIAL' | 'LLM_OUTPUT' | 'STREAM_END' | ControlType;

type ControlType = Extract<
  WorkflowEvent['type'],
  `WORKFLOW_${'PAUSING' | 'PAUSED' | 'RESUMED' | 'CANCELLING' | 'CANCELLED'}`
>;
type ControlName<Type extends ControlType> = Type extends `WORKFLOW_${infer Step}`
  ? `workflow.${Lowercase<Step>}`
  : never;

/** What every event of a stream carries. */
type Common = Pick<WorkflowEvent, 'workflow_id' | 'agent_id' | 'seq' | 'stream_id'>;

/** The payload of a type; of a cut event it may lack what is long. */
type Payload<Type extends WorkflowEvent['type']> = {
  payload?: Type extends keyof EventPayloads ? EventPayloads[Type] : { [name: string]: unknown };
};

/** The whole of an event, of which `type` repeats the name. */
type Whole<Type extends WorkflowEvent['type'], Name extends string> = Omit<
  WorkflowEvent,
  'type' | 'payload'
> &
  Payload<Type> & { type: Name };

/** An event under its name; `id` is where a later stream goes on after it (`last_event_id`). */
type Named<Name extends string, Data> = { event: Name; id: string; data: Data };

/** Most events: the one that `event` names, as the events routes have it too. */
export type TypedEvent =
  | { [Type in Exclude<WorkflowEvent['type'], Renamed>]: Named<Type, Whole<Type, Type>> }[Exclude<
      WorkflowEvent['type'],
      Renamed
    >]
  | { [Type in ControlType]: Named<ControlName<Type>, Whole<Type, ControlName<Type>>> }[ControlType];

/** A part of a text that is being written. */
export type DeltaEvent = Named<'thread.message.delta', Common & Payload<'LLM_PARTIAL'> & { delta: string }>;

/** The report, whole. */
export type CompletedEvent = Named<
  'thread.message.completed',
  Common & Payload<'LLM_OUTPUT'> & Pick<WorkflowEvent, 'timestamp'> & { response: string }
>;

/** Events between `requested` and `earliest` are no longer kept; what follows is the rest. It has no id. */
export interface GapEvent {
  event: 'gap';
  id: null;
  data: { requested: string | number; earliest: string | number; latest: string | number };
}

/** What a stream yields; `event` tells which it is. */
export type StreamEvent = TypedEvent | DeltaEvent | CompletedEvent | GapEvent;

/** A name by which events can be asked for: the one that they have on a stream, or their type. */
export type EventName = Exclude<StreamEvent['event'], 'gap'> | WorkflowEvent['type'];
