import type { IncomingMessage, ServerResponse } from 'node:http';
import { noteWorkflow, principalOf, sendReply } from '@plangate/http';
import { entityTags } from '@plangate/review';
import { StaleReviewError } from '@plangate/tool-approval';
import { z } from 'zod';
import { DetailError } from '../errors.ts';
import type { AgentParts } from '../parts.ts';
import { threadWorkflowId } from '../thread-id.ts';
import { ThreadBusy } from '../threads.ts';
import { readReviewBody } from '../validation/bodies.ts';
import { readJson } from '../validation/json-body.ts';
import { answerTurn } from './turn.ts';
import { nothingPending, runningError } from './turn-reply.ts';

const Target = z.object({ threadId: z.string(), reviewId: z.string() });

/**
 * `POST /hitl/review` (`contract/tool-approval.md §1`). The answer is bound to one review before it is sent on: the one
 * that the caller names, else the one that is pending when the request first comes; so neither a late double click nor
 * a repeated request ever answers the next one.
 */
export function reviewRoute(parts: AgentParts) {
  const { threads, limits } = parts;

  /** The review that waits now. */
  async function pendingReview(workflowId: string): Promise<string> {
    const view = await threads.view(workflowId).catch((error: unknown) => {
      throw error instanceof ThreadBusy ? runningError('review') : error;
    });
    if (view?.running) throw runningError('review');
    if (!view?.review) throw nothingPending();
    return view.review.id;
  }

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { threadId, decisions, reviewId: named } = readReviewBody(await readJson(req));
    const workflowId = threadWorkflowId(principalOf(req).owner, threadId);
    noteWorkflow(req, workflowId);
    const reply = await answerTurn(parts, req, {
      asked: 'review',
      target: Target,
      async findTarget() {
        const reviewId = await pendingReview(workflowId);
        requireMeant(req, named, reviewId);
        return { threadId, reviewId };
      },
      async run({ reviewId }, updateId, again) {
        const done = again ? await threads.outcome(workflowId, updateId) : null;
        if (done) return done;
        requireMeant(req, named, reviewId);
        return threads.review(workflowId, { decisions, reviewId, limits }, updateId);
      },
    });
    sendReply(res, reply);
  };
}

/** @throws {DetailError} 412 where the caller means another review than this one (RFC 9110 §13.1.1) */
function requireMeant(req: IncomingMessage, named: string | null, reviewId: string): void {
  const header = req.headers['if-match'];
  const matches =
    header === undefined ||
    entityTags(header).some((tag) => tag === '*' || tag === reviewId || tag === `"${reviewId}"`);
  if (matches && (named === null || named === reviewId)) return;
  throw new DetailError(412, new StaleReviewError().message);
}
