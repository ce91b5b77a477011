import { EventList, Timeline } from '../../events.ts';
import { EVENT_LIMIT } from '../../ranges.ts';
import {
  ControlAnswer,
  ControlBody,
  ControlState,
  StreamTaskAnswer,
  SubmitTaskAnswer,
  SubmitTaskBody,
  TaskBody,
  TaskList,
} from '../../tasks.ts';
import {
  EVENT_TYPES_FILTER,
  LAST_EVENT_ID_QUERY,
  page,
  SESSION_FILTER,
  STATUS_FILTER,
  TASK_ID,
} from '../parameters.ts';
import type { Answer, Route } from '../route.ts';

const TASKS = '/api/v1/tasks';
const SUBMIT_ERRORS = {
  400: 'The body or a context key is wrong; `error` says which.',
  503: 'Redis or the task engine cannot be reached.',
};
const UNKNOWN = {
  400: 'The id is malformed.',
  404: 'There is no such task, or it belongs to somebody else.',
};

export const taskRoutes: readonly Route[] = [
  {
    method: 'post',
    path: TASKS,
    id: 'submitTask',
    tag: 'Tasks',
    summary: 'Submit a task',
    description:
      'With `context.require_review` a person decides on the research plan first: read it under `…/review`.',
    access: 'required',
    body: { schema: SubmitTaskBody, required: true },
    answers: {
      200: {
        description: 'The task is accepted and will run.',
        schema: SubmitTaskAnswer,
        headers: ['X-Workflow-ID', 'X-Session-ID'],
      },
    },
    errors: SUBMIT_ERRORS,
  },
  {
    method: 'post',
    path: `${TASKS}/stream`,
    id: 'submitTaskAndStream',
    tag: 'Tasks',
    summary: 'Submit a task and learn where its events are streamed',
    access: 'required',
    body: { schema: SubmitTaskBody, required: true },
    answers: {
      201: {
        description: 'The task is accepted and will run.',
        schema: StreamTaskAnswer,
        headers: ['X-Workflow-ID', 'X-Session-ID', 'Link'],
      },
    },
    errors: SUBMIT_ERRORS,
  },
  {
    method: 'get',
    path: TASKS,
    id: 'listTasks',
    tag: 'Tasks',
    summary: 'List your tasks, newest first',
    access: 'required',
    parameters: [...page(), STATUS_FILTER, SESSION_FILTER],
    answers: { 200: { description: 'One page, and how many there are in all.', schema: TaskList } },
    errors: { 400: 'A parameter is wrong.' },
  },
  ofTask('get', '', {
    id: 'getTask',
    summary: 'Read a task: status, result, usage',
    unlimited: true,
    answers: {
      200: { description: 'The task as it is now.', schema: TaskBody, headers: ['X-Workflow-ID'] },
    },
  }),
  ofTask('get', '/events', {
    id: 'listEvents',
    summary: 'Read the events of a task, oldest first',
    parameters: page(EVENT_LIMIT),
    answers: { 200: { description: 'One page; `count` says how many it holds.', schema: EventList } },
    errors: { 400: 'The id or a parameter is wrong.' },
  }),
  ofTask('get', '/timeline', {
    id: 'getTimeline',
    summary: 'Read all kept events of a task',
    answers: { 200: { description: 'From the first to the newest.', schema: Timeline } },
  }),
  ofTask('get', '/stream', {
    id: 'redirectToStream',
    summary: 'Find the event stream of a task',
    parameters: [EVENT_TYPES_FILTER, LAST_EVENT_ID_QUERY],
    answers: { 307: { description: 'Follow `Location`.', headers: ['Location'] } },
  }),
  ofTask('get', '/control-state', {
    id: 'getControlState',
    summary: 'Read whether a task is paused or cancelled, by whom and why',
    answers: {
      200: { description: 'Every field is present; `""` where there is nothing.', schema: ControlState },
    },
  }),
  control('cancel', 'cancelTask', 'Cancel a task; an open review is closed first'),
  control('pause', 'pauseTask', 'Pause a task: what runs is finished, nothing else is started'),
  control('resume', 'resumeTask', 'Resume a paused task'),
];

type OfTask = Pick<Route, 'id' | 'summary' | 'answers'> &
  Partial<Pick<Route, 'unlimited' | 'parameters' | 'body' | 'errors'>>;

function ofTask(method: Route['method'], suffix: string, route: OfTask): Route {
  return {
    ...route,
    method,
    path: `${TASKS}/{id}${suffix}`,
    tag: 'Tasks',
    access: 'required',
    parameters: [TASK_ID, ...(route.parameters ?? [])],
    errors: { ...UNKNOWN, ...route.errors },
  };
}

function control(action: string, id: string, summary: string): Route {
  const accepted: Answer = {
    description: 'The workflow has been asked; an event says when it is done.',
    schema: ControlAnswer,
  };
  return ofTask('post', `/${action}`, {
    id,
    summary,
    body: { schema: ControlBody, required: false },
    answers: { 202: accepted },
    errors: {
      400: 'The id or the body is wrong.',
      409: 'Impossible in the state that the task is in; `error` says why.',
      503: 'Redis or the task engine cannot be reached.',
    },
  });
}
