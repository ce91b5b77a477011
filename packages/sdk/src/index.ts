export { Plangate, type PlangateOptions } from './client.ts';
export type { Condition, ReviewState } from './condition.ts';
export type { Events, StreamOptions } from './events.ts';
export {
  AuthenticationError,
  BadGatewayError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  PlangateError,
  PreconditionRequiredError,
  RateLimitError,
  ServiceUnavailableError,
  StatusError,
  TimeoutError,
  UnprocessableEntityError,
} from './http/errors.ts';
export type { CallOptions, ChangeOptions } from './http/transport.ts';
export type { TaskRef } from './ref.ts';
export type { Approval, DecideOptions, FeedbackAnswer, Review, Reviews } from './review.ts';
export type { Page, Sessions } from './sessions.ts';
export type {
  CompletedEvent,
  DeltaEvent,
  EventName,
  GapEvent,
  StreamEvent,
  TypedEvent,
} from './stream/event.ts';
export { isOver, TaskEndedError } from './task-end.ts';
export type { StreamedTask, SubmitTask, Tasks, WaitOptions } from './tasks.ts';
export type * from './wire.ts';
