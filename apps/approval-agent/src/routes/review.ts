import type { IncomingMessage, ServerResponse } from 'node:http';
import { noteWorkflow, principalOf, sendReply } from '@plangate/http';
import { entityTags } from '@plangate/review';
import { StaleReviewError } from '@plangate/tool-approval';
import { DetailError } from '../errors.ts';
import type { AgentParts } from '../parts.ts';
import { threadWorkflowId } from '../thread-id.ts';
import { ThreadBusy, type Turn } from '../threads.ts';
import { readReviewBody } from '../validation/bodies.ts';
import { readJson } from '../validation/json-body.ts';
import { answerTurn } from './turn.ts';
import { nothingPending, runningError } from './turn-reply.ts';

/**
 * `POST /hitl/review` (`contract/tool-approval.md §1`). The answer is bound to one review before it is sent on: the one
 * that the caller names, else the one that is pending now; so a late double click never answers the next one.
 */
export function reviewRoute(parts: AgentParts) {
  const { threads, limits } = parts;

  async function review(
    req: IncomingMessage,
    workflowId: string,
    body: Answer,
    updateId: string,
    again: boolean,
  ): Promise<Turn> {
    const done = again ? await threads.outcome(workflowId, updateId) : null;
    if (done) return done;
    const view = await threads.view(workflowId).catch((error: unknown) => {
      throw error instanceof ThreadBusy ? runningError('review') : error;
    });
    if (!view) throw nothingPending();
    if (view.running) throw runningError('review');
    if (!view.review) throw nothingPending();
    requireMeant(req, body.reviewId, view.review.id);
    const turn = { decisions: body.decisions, reviewId: view.review.id, limits };
    return threads.review(workflowId, turn, updateId);
  }

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { threadId, ...body } = readReviewBody(await readJson(req));
    const workflowId = threadWorkflowId(principalOf(req).owner, threadId);
    noteWorkflow(req, workflowId);
    const reply = await answerTurn(parts, req, {
      asked: 'review',
      newThreadId: () => threadId,
      run: (_id, updateId, again) => review(req, workflowId, body, updateId, again),
    });
    sendReply(res, reply);
  };
}

interface Answer {
  decisions: unknown[];
  reviewId: string | null;
}

/** @throws {DetailError} 412 where the caller means another review than the pending one (RFC 9110 §13.1.1) */
function requireMeant(req: IncomingMessage, reviewId: string | null, pending: string): void {
  const header = req.headers['if-match'];
  const named =
    header === undefined ||
    entityTags(header).some((tag) => tag === '*' || tag === pending || tag === `"${pending}"`);
  if (named && (reviewId === null || reviewId === pending)) return;
  throw new DetailError(412, new StaleReviewError().message);
}
