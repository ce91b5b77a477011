import { z } from 'zod';
import { Id } from '../ids.ts';
import { HISTORY_LIMIT, OFFSET, REVIEW_WAIT_SECONDS, TASK_LIMIT, type WholeRange } from '../ranges.ts';
import type { Parameter } from './route.ts';

export const TASK_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the task, which is the id of its workflow too.',
  schema: Id,
};

export const SESSION_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the session; it is yours alone, whoever else uses the same one.',
  schema: Id,
};
export const INCLUDE_PAYLOAD = query(
  'include_payload',
  'Whether the events come with their payload.',
  z.enum(['true', 'false', '1', '0']).default('false'),
);

/** `limit` and `offset` of a list. */
export function page(limit: WholeRange = TASK_LIMIT): Parameter[] {
  return [
    query('limit', 'Entries at most.', whole(limit)),
    query('offset', 'Entries to leave out first.', whole(OFFSET)),
  ];
}

/** The same of a history, which is whole where they are left out. */
export const HISTORY_PAGE: Parameter[] = [
  query(
    'limit',
    'Tasks at most; all of them where it is left out.',
    z.int().min(HISTORY_LIMIT.low).max(HISTORY_LIMIT.high),
  ),
  query('offset', 'Tasks to leave out first.', whole(OFFSET)),
];

export const STATUS_FILTER = query(
  'status',
  'Only tasks in this status, such as `running` or `TASK_STATUS_RUNNING`: any case, with or without the prefix.',
);
export const SESSION_FILTER = query('session_id', 'Only tasks of this session.', Id);

export const WAIT = query(
  'wait',
  'While the first plan is still being made, the answer waits for it: so many seconds at most. 0 asks at once.',
  whole(REVIEW_WAIT_SECONDS),
);
export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier read; 304 without a body where the review is still at that version.',
  schema: z.string(),
};
export const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'The version that the caller has seen, from `ETag`: `"3"` or `3`, a list of them, or `*`. Another version is ' +
    '409 and nothing is changed. Left out, the action is unconditional (428 where the settings require it).',
  schema: z.string(),
};

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A name of your own for this request, 1 to 255 characters. Repeated with the same body within 24 hours it is ' +
    'done once, and answered as before with `X-Idempotency-Cached: true`. Answers other than 2xx are not kept.',
  schema: z.string().min(1).max(255),
};

export const STREAM_OF = { ...query('workflow_id', 'Id of the task.', Id), required: true };
export const EVENT_TYPES_FILTER = query(
  'types',
  'Only these events, separated by commas, under their stored or their SSE name. The end is always sent.',
);
export const LAST_EVENT_ID_QUERY = query(
  'last_event_id',
  'Resume after this event: its SSE `id` or its `seq`. Left out, all events are sent from the first.',
);
export const LAST_EVENT_ID: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'As `last_event_id`, and wins over it; `EventSource` sends it when it connects again.',
  schema: z.string(),
};

export function query(name: string, description: string, schema: z.ZodType = z.string()): Parameter {
  return { name, in: 'query', description, schema };
}

function whole({ low, high, otherwise }: WholeRange): z.ZodType {
  return z.int().min(low).max(high).default(otherwise);
}
