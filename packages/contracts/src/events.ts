import { z } from 'zod';

/** Every event type that Plangate stores (`contract/plan-review.md` §3). */
export const EVENT_TYPES = [
  'WORKFLOW_STARTED',
  'RESEARCH_PLAN_READY',
  'REVIEW_USER_FEEDBACK',
  'RESEARCH_PLAN_UPDATED',
  'RESEARCH_PLAN_APPROVED',
  'RESEARCH_PLAN_EDITED',
  'RESEARCH_PLAN_REJECTED',
  'REVIEW_EXTENDED',
  'REVIEW_REMINDER',
  'REVIEW_TIMED_OUT',
  'REVIEW_CANCELLED',
  'DELEGATION',
  'AGENT_STARTED',
  'TOOL_INVOKED',
  'TOOL_OBSERVATION',
  'AGENT_COMPLETED',
  'PROGRESS',
  'LLM_PARTIAL',
  'LLM_OUTPUT',
  'ERROR_OCCURRED',
  'WORKFLOW_PAUSING',
  'WORKFLOW_PAUSED',
  'WORKFLOW_RESUMED',
  'WORKFLOW_CANCELLING',
  'WORKFLOW_CANCELLED',
  'WORKFLOW_COMPLETED',
  'WORKFLOW_FAILED',
  'STREAM_END',
] as const;

export const EventType = z.enum(EVENT_TYPES);
export type EventType = z.infer<typeof EventType>;

/** What a producer hands to the log; the log adds number, id and time. */
export const NewEvent = z.object({
  type: EventType,
  agent_id: z.string(),
  message: z.string(),
  payload: z.record(z.string(), z.unknown()).optional(),
});
export type NewEvent = z.infer<typeof NewEvent>;

/** An event as clients see it, by polling and (names aside) on SSE. */
export const WorkflowEvent = z.object({
  workflow_id: z.string(),
  type: EventType,
  agent_id: z.string(),
  message: z.string(),
  payload: z.record(z.string(), z.unknown()).optional(),
  timestamp: z.iso.datetime(),
  /** From 1, without gaps. */
  seq: z.int().positive(),
  /** Id on the Redis stream, `<ms>-<n>`; opaque to clients. */
  stream_id: z.string(),
});
export type WorkflowEvent = z.infer<typeof WorkflowEvent>;

/** Body of `GET /api/v1/tasks/{id}/events`. */
export const EventList = z.object({ events: z.array(WorkflowEvent), count: z.int() });
/** Body of `GET /api/v1/tasks/{id}/timeline`. */
export const Timeline = z.object({ workflow_id: z.string(), events: z.array(WorkflowEvent) });

/** Largest serialised event in bytes; a longer message is cut and marked `payload.truncated`. */
export const MAX_EVENT_BYTES = 64 * 1024;
