import type { ErrorBody } from '../wire.ts';

/** What is known of an answer that is no success. */
export interface Failure {
  status: number;
  headers: Headers;
  /** The error body; null where what answered was not Plangate, such as a proxy. */
  body: ErrorBody | null;
  /** `POST /api/v1/tasks`, for the message. */
  request: string;
}
