import { SESSION_LIMIT, TURN_LIMIT } from '../../ranges.ts';
import {
  SessionBody,
  SessionEvents,
  SessionHistory,
  SessionList,
  SessionTitleAnswer,
  SessionTitleBody,
} from '../../sessions.ts';
import { HISTORY_PAGE, INCLUDE_PAYLOAD, page, SESSION_ID } from '../parameters.ts';
import type { Route } from '../route.ts';

const SESSIONS = '/api/v1/sessions';
const MALFORMED = { 400: 'The id is malformed.' };
const UNKNOWN = { 404: 'You have no such session.' };

export const sessionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: SESSIONS,
    id: 'listSessions',
    tag: 'Sessions',
    summary: 'List your sessions, the one used last first',
    access: 'required',
    parameters: page(SESSION_LIMIT),
    answers: { 200: { description: 'One page, and how many there are in all.', schema: SessionList } },
    errors: { 400: 'A parameter is wrong.' },
  },
  ofSession('get', '', {
    id: 'getSession',
    summary: 'Read a session',
    answers: { 200: { description: 'The session as it is now.', schema: SessionBody } },
    errors: UNKNOWN,
  }),
  ofSession('get', '/history', {
    id: 'getSessionHistory',
    summary: 'Read the tasks of a session with their results, oldest first',
    parameters: HISTORY_PAGE,
    answers: {
      200: { description: 'Those that were asked for; `total` is of all tasks.', schema: SessionHistory },
    },
    errors: {
      ...UNKNOWN,
      400: 'The id or a parameter is wrong.',
      413:
        'More than 32 Mi characters of queries and results, or more than 200 000 events to count: ask for parts with ' +
        '`limit` and `offset`.',
    },
  }),
  ofSession('get', '/events', {
    id: 'getSessionEvents',
    summary: 'Read a session turn by turn, with the events of each task',
    description:
      'What a client needs to show the conversation again: plans, feedbacks and decisions are among the events. ' +
      'Events are kept for a day after the end of their task; the turn stays.',
    parameters: [...page(TURN_LIMIT), INCLUDE_PAYLOAD],
    answers: {
      200: { description: 'One page, oldest turn first; `count` is of all turns.', schema: SessionEvents },
    },
    errors: {
      ...UNKNOWN,
      400: 'The id or a parameter is wrong.',
      413:
        'These turns have more than 20 000 events or 32 Mi characters: ask for fewer turns, or for the events of one ' +
        'task in pages.',
    },
  }),
  ofSession('patch', '', {
    id: 'renameSession',
    summary: 'Give a session another title',
    body: { schema: SessionTitleBody, required: true },
    answers: { 200: { description: 'The title as it is stored.', schema: SessionTitleAnswer } },
    errors: { ...UNKNOWN, 400: 'The id or the title is wrong.' },
  }),
  ofSession('delete', '', {
    id: 'deleteSession',
    summary: 'Take a session off the list',
    description:
      'Only the session goes: its tasks run on, a review goes on waiting, and both stay readable by their ids. ' +
      'The same again is 204 too.',
    answers: { 204: { description: 'It is gone.' } },
  }),
];

type OfSession = Pick<Route, 'id' | 'summary' | 'answers'> &
  Partial<Pick<Route, 'description' | 'parameters' | 'body' | 'errors'>>;

function ofSession(method: Route['method'], suffix: string, route: OfSession): Route {
  return {
    ...route,
    method,
    path: `${SESSIONS}/{id}${suffix}`,
    tag: 'Sessions',
    access: 'required',
    parameters: [SESSION_ID, ...(route.parameters ?? [])],
    errors: { ...MALFORMED, ...route.errors },
  };
}
