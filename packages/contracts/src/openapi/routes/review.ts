import { z } from 'zod';
import { ErrorBody } from '../../errors.ts';
import {
  ApproveBody,
  AuditList,
  FeedbackBody,
  PlanDiff,
  ReviewAction,
  ReviewBody,
  VersionList,
} from '../../review.ts';
import { IF_MATCH, IF_NONE_MATCH, query, TASK_ID, WAIT } from '../parameters.ts';
import type { Route } from '../route.ts';

const NOT_YOURS = {
  400: 'The id is malformed.',
  403: 'The task belongs to somebody else.',
  404: 'There is no review, it has expired, or its first plan is still being made.',
};
const VERSION = z.int().positive();

export const reviewRoutes: readonly Route[] = [
  ofReview('get', '', {
    id: 'getReview',
    summary: 'Read the plan that waits for a decision',
    unlimited: true,
    parameters: [WAIT, IF_NONE_MATCH],
    answers: {
      200: { description: 'The review as it is now.', schema: ReviewBody, headers: ['ETag'] },
      304: { description: 'Still at the version of `If-None-Match`.', headers: ['ETag'] },
    },
    errors: { 400: 'The id or `wait` is wrong.' },
  }),
  ofReview('post', '', {
    id: 'actOnReview',
    summary: 'Decide on the plan, or change it',
    description:
      '`feedback` has the plan revised, `approve` starts the research with exactly the current plan, `edit` puts ' +
      'your text in its place, `reject` ends the task, `extend` gives more time. Only `action` decides, never ' +
      'words in a message.',
    parameters: [IF_MATCH],
    body: { schema: ReviewAction, required: true },
    answers: {
      200: {
        description:
          'Done. `feedback` answers with the new plan (`FeedbackBody`), `approve` with `ApproveBody`, the others ' +
          'with the review (`ReviewBody`).',
        schema: z.union([FeedbackBody, ApproveBody, ReviewBody]),
        headers: ['ETag'],
      },
      409: {
        description:
          '`If-Match` names another version, the review is decided, another feedback is being worked on, or all ' +
          'feedbacks are used. `version` and `ETag` are the current version.',
        schema: ErrorBody,
        headers: ['ETag'],
      },
    },
    errors: {
      400: 'The action or one of its fields is wrong, or there is no plan to approve.',
      428: '`If-Match` is missing, and the settings require it.',
      502: 'The model failed. Nothing has changed and no round is used.',
    },
  }),
  ofReview('get', '/versions', {
    id: 'listPlanVersions',
    summary: 'List every text that was the plan',
    answers: { 200: { description: 'Oldest first.', schema: VersionList, headers: ['ETag'] } },
  }),
  ofReview('get', '/diff', {
    id: 'diffPlans',
    summary: 'Compare two versions of the plan, word by word',
    parameters: [
      { ...query('from', 'Version of the older text.', VERSION), required: true },
      { ...query('to', 'Version of the newer text.', VERSION), required: true },
    ],
    answers: {
      200: {
        description: 'The changes in order, and as a unified diff.',
        schema: PlanDiff,
        headers: ['ETag'],
      },
    },
    errors: { 400: 'The id is malformed, or there is no plan of that version.' },
  }),
  ofReview('get', '/audit', {
    id: 'getAudit',
    summary: 'Read every accepted and refused decision',
    description:
      'Kept for 90 days after the last step, longer than the review. Three chains in one list (`chain`): in each ' +
      '`n` grows by one and `prev` is the `hash` of the entry before it. The accepted chain begins at 1 and has one ' +
      'entry for every `version`; those of refusals lose their oldest entries (10 000 of the owner, 1 000 of ' +
      'others are kept). An accepted chain that ends before the version of `ETag` has lost its newest entries. A program ' +
      'that checks all of it stands in `docs/audit.md`.',
    answers: {
      200: {
        description:
          'By time, each chain in the order of its `n`. `ETag`, the version of the review, while there is one.',
        schema: AuditList,
        headers: ['ETag'],
      },
    },
  }),
];

type OfReview = Pick<Route, 'id' | 'summary' | 'answers'> &
  Partial<Pick<Route, 'description' | 'unlimited' | 'parameters' | 'body' | 'errors'>>;

function ofReview(method: Route['method'], suffix: string, route: OfReview): Route {
  return {
    ...route,
    method,
    path: `/api/v1/tasks/{id}/review${suffix}`,
    tag: 'Review',
    access: 'required',
    parameters: [TASK_ID, ...(route.parameters ?? [])],
    errors: { ...NOT_YOURS, ...route.errors },
  };
}
