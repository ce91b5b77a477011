import { z } from 'zod';
import { EVENT_TYPES_FILTER, LAST_EVENT_ID, LAST_EVENT_ID_QUERY, STREAM_OF } from '../parameters.ts';
import type { Route } from '../route.ts';

export const streamRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/api/v1/stream/sse',
    id: 'streamEvents',
    tag: 'Streams',
    summary: 'Follow the events of a task',
    description:
      'Server-sent events: all events from the first, or those after the resume point, then live. `id` is the ' +
      'stream id, `event` the name, `data` one JSON object (`WorkflowEvent`). Some names differ from the stored ' +
      'type: `thread.message.delta` and `thread.message.completed` for `LLM_PARTIAL` and `LLM_OUTPUT` (with ' +
      '`delta` and `response`), `workflow.paused` and the like for `WORKFLOW_PAUSED`. An event `gap` without an ' +
      'id says that events after the resume point are no longer kept. `done` with the data `[DONE]` ends the ' +
      'stream; a connection that ends before it is to be resumed.',
    access: 'query',
    parameters: [STREAM_OF, EVENT_TYPES_FILTER, LAST_EVENT_ID_QUERY, LAST_EVENT_ID],
    answers: {
      200: { description: 'The stream.', schema: z.string(), mediaType: 'text/event-stream' },
      204: {
        description: '`Last-Event-ID` is the id of `done`: there is nothing more, and `EventSource` stops.',
      },
    },
    errors: {
      400: '`workflow_id` is missing or malformed, or `last_event_id` is malformed.',
      404: 'There is no such task, or it belongs to somebody else.',
      429: 'You have as many streams open as the settings allow.',
    },
  },
];
