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
import {
  type Finished,
  fromRefusal,
  HttpError,
  type KeptReply,
  type Reply,
  readJsonObject,
  type Ticket,
  type Trace,
  traceOf,
} from '@plangate/http';
import { publicBody, type ReviewState } from '@plangate/review';
import { idempotencyKey } from '@plangate/review/redis';
import {
  approvePlan,
  type DecideRequest,
  deliverDecision,
  editPlan,
  extendReview,
  type Result,
  rejectPlan,
  submitFeedback,
} from '@plangate/review/use-cases';
import { callerOf, type GatewayParts } from '../parts.ts';
import { createPlanner } from '../planner.ts';
import { answerPost } from './post.ts';
import { refuseMissing } from './review-access.ts';
import { etagOf } from './review-read.ts';

/** A request for an action, with the record of its Idempotency-Key. */
interface ActRequest extends Omit<DecideRequest, 'idempotency'> {
  ticket: Ticket;
  trace: Trace | undefined;
}

/** `POST …/review` (contract/plan-review.md §2.2): only the typed action of a person does anything. */
export function reviewActRoute(parts: GatewayParts) {
  const ports = { store: parts.reviews, deliver: parts.deliver, newCommandId: parts.newId };

  function perform(action: ReviewAction, request: ActRequest): Promise<Result<{ reply: KeptReply }>> {
    const { ticket, trace: _, ...asked } = request;
    const shown = { ...asked, idempotency: (state: ReviewState) => ticket.record(stateReply(state)) };
    switch (action.action) {
      case 'feedback':
        return feedback(action.message, request);
      case 'approve':
        return approve(request);
      case 'edit':
        return withState(editPlan(ports, { ...shown, plan: action.plan }));
      case 'reject':
        return withState(rejectPlan(ports, { ...shown, reason: action.reason || undefined }));
      case 'extend':
        return withState(
          extendReview(ports, { ...shown, seconds: action.seconds, maxSecondsAhead: MAX_REVIEW_SECONDS }),
        );
    }
  }

  async function feedback(message: string, request: ActRequest): Promise<Result<{ reply: KeptReply }>> {
    const { ticket, trace, ...asked } = request;
    const { workflowId } = request;
    const record = await parts.tasks.load(workflowId);
    const done = await submitFeedback(
      {
        store: parts.reviews,
        lock: parts.lock,
        planner: createPlanner(parts, workflowId, record, trace),
        newCommandId: parts.newId,
        onPlannerFault: (error) =>
          parts.log.warn({ workflow_id: workflowId, err: error }, 'no answer to a feedback'),
      },
      { ...asked, message, idempotency: (state, text) => ticket.record(feedbackReply(state, text)) },
    );
    return done.ok ? { ok: true, reply: feedbackReply(done.state, done.message) } : done;
  }

  async function approve({ ticket, trace: _, ...asked }: ActRequest): Promise<Result<{ reply: KeptReply }>> {
    const done = await approvePlan(ports, {
      ...asked,
      idempotency: (state) => ticket.record(approveReply(state, true)),
    });
    return done.ok ? { ok: true, reply: approveReply(done.state, done.delivered) } : done;
  }

  /** A repeated request finds its decision as it stands now, and has it sent again where nobody knows it yet. */
  async function replay(workflowId: WorkflowId, { reply, decision_id }: Finished): Promise<Reply | null> {
    if (decision_id === undefined) return reply;
    const { state } = await parts.reviews.load(workflowId);
    // Gone: it was delivered, and its task has been over for long.
    if (!state) return reply;
    if (state.decision?.id !== decision_id) return null;
    const delivery = await deliverDecision(ports, workflowId);
    if (delivery.withdrawn) return null;
    return state.status === 'approved' ? approveReply(state, delivery.delivered) : reply;
  }

  async function work(req: IncomingMessage, workflowId: WorkflowId, ticket: Ticket): Promise<KeptReply> {
    const action = readAction(await readJsonObject(req));
    const ifMatch = req.headers['if-match'];
    if (ifMatch === undefined && parts.settings.gateway.require_if_match) {
      throw new HttpError(428, 'precondition_required', 'If-Match is required');
    }
    const caller = callerOf(parts, req);
    const done = await perform(action, { workflowId, caller, ifMatch, ticket, trace: traceOf(req) });
    if (done.ok) return done.reply;
    const missing = done.code === 'review_not_found';
    throw refused(missing ? await refuseMissing(parts, workflowId, caller) : done);
  }

  return (req: IncomingMessage, res: ServerResponse, workflowId: WorkflowId): Promise<void> => {
    const posted = {
      route: 'POST /api/v1/tasks/{id}/review',
      id: workflowId,
      keyOf: (hash: string) => idempotencyKey(workflowId, hash),
      replay: (finished: Finished) => replay(workflowId, finished),
    };
    return answerPost(parts, req, res, posted, (ticket) => work(req, workflowId, ticket));
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

async function withState(
  pending: Promise<Result<{ state: ReviewState }>>,
): Promise<Result<{ reply: KeptReply }>> {
  const done = await pending;
  return done.ok ? { ok: true, reply: stateReply(done.state) } : done;
}

/** 200 of edit, extend and reject. */
function stateReply(state: ReviewState): KeptReply {
  const { status, decision, version } = state;
  return {
    ...ok(version, publicBody(state)),
    ...(status === 'rejected' && decision ? { decisionId: decision.id } : {}),
  };
}

function approveReply({ version, decision }: ReviewState, delivered: boolean): KeptReply {
  const message = delivered ? APPROVED_MESSAGE : APPROVED_LATER_MESSAGE;
  return {
    ...ok(version, { status: 'approved', message }),
    ...(decision ? { decisionId: decision.id } : {}),
  };
}

function feedbackReply(state: ReviewState, message: string): KeptReply {
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
  return ok(version, body);
}

function ok(version: number, body: unknown): Reply {
  return { status: 200, body, headers: { ETag: etagOf(version) } };
}

/** A refusal that knows the current version names it as ETag too. */
function refused(refusal: Refusal): HttpError {
  const version = refusal.fields?.['version'];
  return fromRefusal(refusal, typeof version === 'number' ? { ETag: etagOf(version) } : {});
}
