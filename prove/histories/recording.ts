import type { AuditEntry, PlanAnswer, PlanRequest, ReviewBody, WorkflowEvent } from '@plangate/contracts';
import type { PlanVersion, ReviewOrigin } from '@plangate/review';
import type { Kind, Script } from './script.ts';

/** What a client did and what it saw of it. Times are of one clock that never goes back, in milliseconds. */
export interface Recorded {
  /** The request id that it sent; the audit names it. */
  id: string;
  kind: Kind | 'create' | 'close';
  ifMatch: string | undefined;
  message?: string;
  plan?: string;
  reason?: string;
  seconds?: number;
  deadline?: string;
  began: number;
  /** Null: the connection was closed first, so that nothing is known of it. */
  ended: number | null;
  status: number;
  /** The version of the ETag. */
  version: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  body: any;
}

/** A call of the model, as the model saw it. */
export interface ModelCall {
  received: number;
  answered: number;
  request: PlanRequest;
  /** Null: it gave none. */
  answer: PlanAnswer | null;
}

/** A history, and what the service says of it afterwards. */
export interface History {
  script: Script;
  origin: ReviewOrigin;
  timeoutSeconds: number;
  firstAnswer: PlanAnswer;
  operations: Recorded[];
  /** By the message of the feedback. */
  calls: Map<string, ModelCall>;
  audit: AuditEntry[];
  events: WorkflowEvent[];
  versions: PlanVersion[];
  /** Null: there is no review. */
  last: ReviewBody | null;
  /** What a reader of the stream got over all its connections, by seq; null: nobody read. */
  followed: { seq: number; type?: string }[] | null;
  /** The lock is there although nothing is in flight, or one that a broken connection left has no end. */
  lockLeft: boolean;
  /** The connections of a gateway to Redis were broken off meanwhile. */
  cutOff: boolean;
  /** That, or Redis was too slow: locks stay for their time, requests are answered 503. */
  broken: boolean;
  /** Id of the decision that the workflow has yet to learn, once everything has come to rest. */
  undelivered: string | null;
}
