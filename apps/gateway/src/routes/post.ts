import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  answerOnce,
  type KeptReply,
  keyedRequest,
  type OnceOptions,
  principalOf,
  requestIdOf,
  sendReply,
  type Ticket,
} from '@plangate/http';
import type { GatewayParts } from '../parts.ts';

export interface Posted extends Pick<OnceOptions, 'keyOf' | 'replay'> {
  /** Such as `POST /api/v1/tasks/{id}/cancel`. */
  route: string;
  /** What stands for `{id}`. */
  id?: string;
  /** Longest body in bytes, where it is not the common one. */
  limitBytes?: number;
}

/**
 * Answers a POST: at most once under its Idempotency-Key, and to its end whatever becomes of the client
 * (contract/plan-review.md §0).
 */
export async function answerPost(
  parts: GatewayParts,
  req: IncomingMessage,
  res: ServerResponse,
  { route, id = '', limitBytes, keyOf, replay }: Posted,
  work: (ticket: Ticket) => Promise<KeptReply>,
): Promise<void> {
  const { owner } = principalOf(req);
  const request = await keyedRequest(req, { owner, route, id }, limitBytes ? { limitBytes } : {});
  const options: OnceOptions = {
    store: parts.idempotency,
    request,
    onFault: (error) => {
      parts.log.warn({ err: error, request_id: requestIdOf(req) }, 'answer of an Idempotency-Key not kept');
    },
    ...(keyOf ? { keyOf } : {}),
    ...(replay ? { replay } : {}),
  };
  sendReply(res, await parts.work.keep(answerOnce(options, work)));
}
