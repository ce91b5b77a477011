/** What the headers of answers say. */
export const HEADERS = {
  ETag:
    'What the review is now, in quotes: its version (`"3"`), of a tool approval its id. Send it as `If-Match` with ' +
    'the next action.',
  'X-Review-Id': 'Id of the pending review; `review_id` of an answer binds it to that review.',
  'X-Request-ID': 'Id of this request; the lines of the log have it too.',
  'X-Workflow-ID': 'Id of the workflow, which is the id of the task.',
  'X-Session-ID': 'Session that the task belongs to.',
  Link: 'The event stream of the task, `rel="stream"`.',
  Location: 'The event stream of the task.',
  'Retry-After': 'Seconds after which to ask again.',
  'WWW-Authenticate': '`Bearer realm="Plangate API"`',
} as const;

export type HeaderName = keyof typeof HEADERS;
