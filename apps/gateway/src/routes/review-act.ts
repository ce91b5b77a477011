import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  APPROVED_LATER_MESSAGE,
  APPROVED_MESSAGE,
  type FeedbackBody,
  MAX_REVIEW_SECONDS,
  type Refusal,
  ReviewAction,
  type WorkflowId,
} from '@plangate/contracts';
import { fromRefusal, HttpError, readJsonObject, sendJson } from '@plangate/http';
import { publicBody, type ReviewState } from '@plangate/review';
import {
  approvePlan,
  type DecideRequest,
  editPlan,
  extendReview,
  type Result,
  rejectPlan,
  submitFeedback,
} from '@plangate/review/use-cases';
import { callerOf, type GatewayParts } from '../parts.ts';
import { createPlanner } from '../planner.ts';
import { refuseMissing } from './review-access.ts';
import { etagOf } from './review-read.ts';

/** A 200 of a review action. */
interface Answer {
  version: number;
  body: unknown;
}

/** `POST …/review` (contract/plan-review.md §2.2): only the typed action of a person does anything. */
export function reviewActRoute(parts: GatewayParts) {
  const ports = { store: parts.reviews, deliver: parts.deliver, newCommandId: parts.newId };

  function perform(action: ReviewAction, request: DecideRequest): Promise<Result<Answer>> {
    switch (action.action) {
      case 'feedback':
        return feedback(action.message, request);
      case 'approve':
        return approve(request);
      case 'edit':
        return withState(editPlan(ports, { ...request, plan: action.plan }));
      case 'reject':
        return withState(rejectPlan(ports, { ...request, reason: action.reason || undefined }));
      case 'extend':
        return withState(
          extendReview(ports, { ...request, seconds: action.seconds, maxSecondsAhead: MAX_REVIEW_SECONDS }),
        );
    }
  }

  async function feedback(message: string, request: DecideRequest): Promise<Result<Answer>> {
    const { workflowId } = request;
    const record = await parts.tasks.load(workflowId);
    const done = await submitFeedback(
      {
        store: parts.reviews,
        lock: parts.lock,
        planner: createPlanner(parts, workflowId, record),
        newCommandId: parts.newId,
        onPlannerFault: (error) =>
          parts.log.warn({ workflow_id: workflowId, err: error }, 'no answer to a feedback'),
      },
      { ...request, message },
    );
    return done.ok ? { ok: true, ...feedbackAnswer(done.state, done.message) } : done;
  }

  async function approve(request: DecideRequest): Promise<Result<Answer>> {
    const done = await approvePlan(ports, request);
    if (!done.ok) return done;
    const message = done.delivered ? APPROVED_MESSAGE : APPROVED_LATER_MESSAGE;
    return { ok: true, version: done.state.version, body: { status: 'approved', message } };
  }

  return async (req: IncomingMessage, res: ServerResponse, workflowId: WorkflowId): Promise<void> => {
    const action = readAction(await readJsonObject(req));
    const ifMatch = req.headers['if-match'];
    if (ifMatch === undefined && parts.settings.gateway.require_if_match) {
      throw new HttpError(428, 'precondition_required', 'If-Match is required');
    }
    const caller = callerOf(parts, req);
    // What a person asked for is finished whether or not they are still there.
    const done = await parts.work.keep(perform(action, { workflowId, caller, ifMatch }));
    if (done.ok) return sendJson(res, 200, done.body, { ETag: etagOf(done.version) });
    const missing = done.code === 'review_not_found';
    throw refused(missing ? await refuseMissing(parts, workflowId, caller) : done);
  };
}

/** Codes of an action's fields; the texts come from the schema. */
const FIELD_CODES: Record<string, { wrong: string; tooLong?: string }> = {
  action: { wrong: 'invalid_action' },
  message: { wrong: 'message_required', tooLong: 'message_too_long' },
  plan: { wrong: 'plan_required', tooLong: 'plan_too_long' },
  reason: { wrong: 'invalid_body', tooLong: 'reason_too_long' },
  seconds: { wrong: 'invalid_seconds' },
};

function readAction(body: Record<string, unknown>): ReviewAction {
  const parsed = ReviewAction.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const codes = FIELD_CODES[String(issue?.path[0] ?? 'action')];
  const fields = issue?.code === 'custom' ? (issue.params as Record<string, unknown> | undefined) : undefined;
  const code = (fields ? codes?.tooLong : codes?.wrong) ?? 'invalid_body';
  throw new HttpError(400, code, issue?.message ?? 'Invalid request body', fields ? { fields } : {});
}

async function withState(pending: Promise<Result<{ state: ReviewState }>>): Promise<Result<Answer>> {
  const done = await pending;
  return done.ok ? { ok: true, version: done.state.version, body: publicBody(done.state) } : done;
}

function feedbackAnswer(state: ReviewState, message: string): Answer {
  const { status, round, version, current_plan, rounds, query } = state;
  const intent = state.intent === '' ? 'feedback' : state.intent;
  const body: FeedbackBody = {
    status,
    plan: { message, round, version, intent },
    round,
    version,
    current_plan,
    rounds,
    query,
  };
  return { version, body };
}

/** A refusal that knows the current version names it as ETag too. */
function refused(refusal: Refusal): HttpError {
  const version = refusal.fields?.['version'];
  return fromRefusal(refusal, typeof version === 'number' ? { ETag: etagOf(version) } : {});
}
