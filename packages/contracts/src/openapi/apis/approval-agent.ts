import { HealthBody } from '../../health.ts';
import {
  ActionRequest,
  AssistantMessage,
  BodyFault,
  Decision,
  DetailBody,
  EditedAction,
  HitlAnswer,
  HitlChatRequest,
  HitlReviewRequest,
  ReviewConfig,
  ReviewRequest,
  ThreadMessages,
  ToolCall,
  ToolMessage,
  UserMessage,
} from '../../tool-approval.ts';
import type { Api } from '../api.ts';
import { operationRoutes } from '../routes/operation.ts';
import { threadRoutes } from '../routes/threads.ts';

/** The agent that asks a person before it calls a gated tool (`contract/tool-approval.md`). */
export const APPROVAL_AGENT: Api = {
  title: 'Plangate tool approval',
  description:
    'An agent that stops before a dangerous tool call and waits for approve, edit or reject. Unknown fields of a ' +
    'body are ignored, every error is a `DetailBody`. Texts that are fixed by the format are in Indonesian.',
  tags: [
    { name: 'Threads', description: 'Talk with the agent, decide on what it wants to do.' },
    { name: 'Operation', description: 'For those who run the agent.' },
  ],
  routes: [...threadRoutes, ...operationRoutes('agent')],
  schemas: {
    input: { HitlChatRequest, HitlReviewRequest, Decision, EditedAction },
    output: {
      HitlAnswer,
      ReviewRequest,
      ActionRequest,
      ReviewConfig,
      ThreadMessages,
      UserMessage,
      AssistantMessage,
      ToolMessage,
      ToolCall,
      DetailBody,
      BodyFault,
      HealthBody,
    },
  },
  errors: {
    body: DetailBody,
    shared: {
      Unauthorized: 'The credential is missing or wrong.',
      BodyTooLarge: 'The message has more than 64 KiB, or the body more than 256 KiB.',
      UnsupportedMediaType: 'The body is not `application/json` in UTF-8, or is compressed.',
      IdempotencyRunning: 'A request with this `Idempotency-Key` is still running.',
      IdempotencyMismatch: 'The `Idempotency-Key` was used with another body.',
      TooManyRequests: 'More requests than the limits allow, together with those at the gateway.',
      StoreUnavailable: 'Temporal or Redis cannot be reached, or does not answer in time.',
      Unexpected: 'Any other error: `detail` says what.',
    },
  },
};
