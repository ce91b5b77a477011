import { z } from 'zod';
import { HitlAnswer, HitlChatRequest, HitlReviewRequest, ThreadMessages } from '../../tool-approval.ts';
import type { Parameter, Route } from '../route.ts';

const THREAD_ID: Parameter = {
  name: 'thread_id',
  in: 'path',
  required: true,
  description: 'Id of the thread; it is yours alone, whoever else uses the same one.',
  schema: z.string().min(1),
};
const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'The review that the answer is meant for, from `ETag`; where another one is pending the answer is 412.',
  schema: z.string(),
};
const WAITING = { description: 'Where the thread is now.', schema: HitlAnswer } as const;
const UNKNOWN = {
  400: 'The path cannot be decoded.',
  404: 'There is no such thread, or it belongs to somebody else.',
};
const TURN_ERRORS = {
  409: 'A turn of this thread is running, or a request with this `Idempotency-Key`.',
  422: 'The body does not fit: `detail` lists every fault with its place; or the `Idempotency-Key` was used with another body.',
  500: 'A tool threw. Its call is answered, the other approved calls have run, and the thread goes on with the next message.',
  502: 'The model gave nothing usable.',
  503: 'No model is configured, or llm-service, Temporal or Redis is away.',
};

/** Routes of `contract/tool-approval.md` §1. */
export const threadRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/hitl/chat',
    id: 'chat',
    tag: 'Threads',
    summary: 'Say something to the agent',
    description:
      'One turn: it ends with an answer, or with `pending_review`, which says in `action_requests` what the agent ' +
      'wants to do. Without `thread_id` a new thread begins.',
    access: 'required',
    body: { schema: HitlChatRequest, required: true },
    answers: { 200: WAITING },
    errors: {
      ...TURN_ERRORS,
      400: 'The message is blank, the thread waits for a decision, or it would become longer than 1 MiB.',
    },
  },
  {
    method: 'post',
    path: '/hitl/review',
    id: 'review',
    tag: 'Threads',
    summary: 'Decide on what the agent wants to do',
    description:
      'One decision for each of `action_requests`, in their order; then the turn goes on. `edit` puts `edited_action` ' +
      'in the place of the whole action.',
    access: 'required',
    parameters: [IF_MATCH],
    body: { schema: HitlReviewRequest, required: true },
    answers: { 200: WAITING },
    errors: {
      ...TURN_ERRORS,
      400: 'Nothing is pending, or the decisions do not fit; nothing has changed.',
      412: '`If-Match` or `review_id` names another review than the pending one.',
    },
  },
  {
    method: 'get',
    path: '/hitl/threads/{thread_id}',
    id: 'getThread',
    tag: 'Threads',
    summary: 'Where a thread is, for a page that is loaded again',
    description: 'While a turn runs, and after one that failed, `answer` and `pending_review` are null.',
    access: 'required',
    unlimited: true,
    parameters: [THREAD_ID],
    answers: { 200: WAITING },
    errors: UNKNOWN,
  },
  {
    method: 'get',
    path: '/hitl/threads/{thread_id}/messages',
    id: 'getMessages',
    tag: 'Threads',
    summary: 'The conversation: what was said, what ran, what came of it',
    access: 'required',
    parameters: [THREAD_ID],
    answers: { 200: { description: 'All messages, oldest first.', schema: ThreadMessages } },
    errors: UNKNOWN,
  },
];
