import { ErrorBody } from '../../errors.ts';
import { EventPayloads } from '../../event-payloads.ts';
import { EventList, Timeline, WorkflowEvent } from '../../events.ts';
import { HealthBody } from '../../health.ts';
import { Citation, Verification } from '../../research.ts';
import {
  ApproveBody,
  AuditEntry,
  AuditList,
  FeedbackBody,
  PlanDiff,
  ReviewAction,
  ReviewBody,
  Round,
  VersionList,
} from '../../review.ts';
import {
  SessionBody,
  SessionEvents,
  SessionHistory,
  SessionList,
  SessionSummary,
  SessionTitleAnswer,
  SessionTitleBody,
} from '../../sessions.ts';
import {
  ControlAnswer,
  ControlBody,
  ControlState,
  StreamTaskAnswer,
  SubmitTaskAnswer,
  SubmitTaskBody,
  TaskBody,
  TaskList,
  TaskMetadata,
  TokenUsage,
} from '../../tasks.ts';

import type { Api } from '../api.ts';
import { operationRoutes } from '../routes/operation.ts';
import { reviewRoutes } from '../routes/review.ts';
import { sessionRoutes } from '../routes/sessions.ts';
import { streamRoutes } from '../routes/streams.ts';
import { taskRoutes } from '../routes/tasks.ts';

/** The gateway: tasks whose plan a person reviews (`contract/plan-review.md`). */
export const GATEWAY: Api = {
  title: 'Plangate',
  description:
    'Puts a person in front of an AI agent before a research plan is executed. Times are RFC 3339 in UTC, ' +
    'unknown fields of a body are ignored, every error is an `ErrorBody`.',
  tags: [
    { name: 'Tasks', description: 'Submit, read and control tasks.' },
    { name: 'Review', description: 'Read the plan of a task, change it, decide on it.' },
    { name: 'Sessions', description: 'Tasks that belong together, as a conversation.' },
    { name: 'Streams', description: 'Follow a task live.' },
    { name: 'Operation', description: 'For those who run the gateway.' },
  ],
  routes: [...taskRoutes, ...reviewRoutes, ...sessionRoutes, ...streamRoutes, ...operationRoutes('gateway')],
  schemas: {
    input: { SubmitTaskBody, ReviewAction, ControlBody, SessionTitleBody },
    output: {
      ErrorBody,
      SubmitTaskAnswer,
      StreamTaskAnswer,
      TaskBody,
      TaskMetadata,
      Citation,
      Verification,
      TaskList,
      TokenUsage,
      ControlState,
      ControlAnswer,
      WorkflowEvent,
      EventPayloads,
      EventList,
      Timeline,
      ReviewBody,
      FeedbackBody,
      ApproveBody,
      Round,
      VersionList,
      PlanDiff,
      AuditEntry,
      AuditList,
      SessionSummary,
      SessionList,
      SessionBody,
      SessionHistory,
      SessionEvents,
      SessionTitleAnswer,
      HealthBody,
    },
  },
  errors: {
    body: ErrorBody,
    shared: {
      Unauthorized: 'The credential is missing or wrong.',
      BodyTooLarge: 'The body is too large; `limit` says how many bytes it may have.',
      UnsupportedMediaType: 'The body is not `application/json`, or is compressed.',
      IdempotencyRunning: 'A request with this `Idempotency-Key` is still running.',
      IdempotencyMismatch: 'The `Idempotency-Key` was used with another body.',
      TooManyRequests:
        'More requests than the limits allow; `window` says which of them. `X-RateLimit-Limit-Minute`, ' +
        '`X-RateLimit-Remaining-Minute` and `X-RateLimit-Reset` (seconds since 1970) come with every counted answer.',
      StoreUnavailable: 'Redis cannot be reached, or does not answer in time.',
      Unexpected: 'Any other error: `error` is for people, `code` for programs.',
    },
  },
};
