import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  CANCEL_SIGNAL,
  type CancelSignal,
  ControlBody,
  ENGINE_UNAVAILABLE,
  PAUSE_SIGNAL,
  RESUME_SIGNAL,
  refuse,
  type WorkflowId,
} from '@plangate/contracts';
import { fromRefusal, HttpError, type Reply, readJsonObject, type Ticket } from '@plangate/http';
import { type Caller, cancelReview, deliverDecision, Pace } from '@plangate/review/use-cases';
import { type ControlAction, decideControl, type TaskRecord } from '@plangate/tasks';
import { callerOf, type GatewayParts } from '../parts.ts';
import { loadOwnTask } from './own-task.ts';
import { answerPost } from './post.ts';

const MESSAGES: Record<ControlAction, string> = {
  cancel: 'Task cancelled successfully',
  pause: 'Pause signal sent',
  resume: 'Resume signal sent',
};

interface Request {
  record: TaskRecord;
  reason: string;
  caller: Caller;
}

/** `POST …/cancel|pause|resume` (contract/plan-review.md §1): the workflow does it, this route only asks it to. */
export function controlRoutes(parts: GatewayParts) {
  function route(action: ControlAction) {
    async function work(req: IncomingMessage, id: WorkflowId, ticket: Ticket): Promise<Reply> {
      const reason = await readReason(req);
      const pace = new Pace();
      const record = await loadOwnTask(parts.tasks, req, id);
      const stalled = pace.check();
      if (stalled) throw fromRefusal(stalled);
      const decided = decideControl(record, action);
      // From here on an attempt may have asked the workflow although its answer was lost.
      await ticket.reserve(() => {
        if (!decided.ok) throw fromRefusal(decided);
        return action;
      });
      if (!decided.ok && !AS_ASKED.has(decided.code)) throw fromRefusal(decided);
      if (decided.ok && !decided.repeat)
        await ask(parts, { record, reason, caller: callerOf(parts, req) }, action);
      return { status: 202, body: { success: true, message: MESSAGES[action], task_id: id } };
    }
    const path = `POST /api/v1/tasks/{id}/${action}`;
    return (req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> =>
      answerPost(parts, req, res, { route: path, id }, (ticket) => work(req, id, ticket));
  }
  return { cancel: route('cancel'), pause: route('pause'), resume: route('resume') };
}

/** The task is as the request wants it: for an attempt whose answer was lost no refusal, but what came of it. */
const AS_ASKED: ReadonlySet<string> = new Set(['already_paused', 'not_paused']);

const WANTED = { cancel: 'cancelled', pause: 'paused', resume: 'running' } as const;

async function ask(parts: GatewayParts, request: Request, action: ControlAction): Promise<void> {
  const { task_id, wanted } = request.record;
  // Where nobody hears whether the signal arrived, the record alone tells: not what was asked for before.
  if (wanted !== '') await parts.tasks.noteWanted(task_id, '');
  await (action === 'cancel' ? cancel(parts, request) : signal(parts, request, action));
  await parts.tasks.noteWanted(task_id, WANTED[action]);
}

/**
 * A cancel during the review closes that first, so that no approve comes between; it is recorded, and so delivered
 * even where Temporal is away now.
 */
async function cancel(parts: GatewayParts, request: Request): Promise<void> {
  const { record, reason, caller } = request;
  const { review, task_id, owner, query } = record;
  if (review) {
    const origin = { workflowId: task_id, owner, query, maxRounds: review.max_rounds };
    const ports = { store: parts.reviews, newCommandId: parts.newId };
    const closed = await cancelReview(
      ports,
      origin,
      caller.owner.user,
      reason === '' ? undefined : reason,
      caller,
    );
    if (!closed.ok) {
      if (closed.code === 'task_over') return answerEnded(parts, record, 'cancel');
      throw fromRefusal(closed);
    }
    if (closed.state.status === 'cancelled') {
      await deliverDecision({ store: parts.reviews, deliver: parts.deliver }, task_id);
      return;
    }
  }
  await signal(parts, request, 'cancel');
}

async function signal(parts: GatewayParts, request: Request, action: ControlAction): Promise<void> {
  const { record, reason, caller } = request;
  const names = { cancel: CANCEL_SIGNAL, pause: PAUSE_SIGNAL, resume: RESUME_SIGNAL };
  const payload: CancelSignal = { reason, by: caller.owner.user };
  const outcome = await parts.engine.signal(record.task_id, names[action], payload);
  if (outcome === 'sent') return;
  if (outcome === 'unreachable' || !record.start.confirmed) throw fromRefusal(ENGINE_UNAVAILABLE);
  await answerEnded(parts, record, action);
}

/** The task has just ended: its record says how, or will as soon as the sweep has looked at it. */
async function answerEnded(parts: GatewayParts, record: TaskRecord, action: ControlAction): Promise<void> {
  const current = (await parts.tasks.load(record.task_id)) ?? record;
  const decided = decideControl(current, action);
  if (decided.ok && decided.repeat) return;
  throw fromRefusal(decided.ok ? refuse(409, 'task_over', `cannot ${action} ended task`) : decided);
}

async function readReason(req: IncomingMessage): Promise<string> {
  const parsed = ControlBody.safeParse(await readJsonObject(req, { optional: true }));
  if (parsed.success) return parsed.data.reason ?? '';
  const [issue] = parsed.error.issues;
  if (issue?.code !== 'custom') throw new HttpError(400, 'invalid_body', 'Invalid request body');
  throw new HttpError(400, 'reason_too_long', issue.message, { fields: issue.params ?? {} });
}
