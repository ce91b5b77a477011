import type { Decision, JsonObject, Message, ReviewRequest } from '@plangate/contracts';
import { isJsonObject } from '@plangate/contracts/json';
import type { PendingReview } from '../state/thread-state.ts';

/** An interrupt of AG-UI's run lifecycle, bound to a tool call. */
export interface AgUiInterrupt {
  id: string;
  reason: 'tool_call';
  message: string;
  toolCallId: string;
  responseSchema: JsonObject;
  metadata: { plangate: { name: string; args: JsonObject; allowed_decisions: string[] } };
}

/** One entry of `RunAgentInput.resume`. */
export interface AgUiResumeEntry {
  interruptId: string;
  status: 'resolved' | 'cancelled';
  payload?: unknown;
}

/** A resume that does not answer exactly the interrupts that are open; a `RunError` in AG-UI. Nothing has changed. */
export class AgUiResumeError extends Error {
  override readonly name = 'AgUiResumeError';
}

/**
 * One interrupt for each action, for the outcome of `RUN_FINISHED`. An id names the review and the place in it, so
 * that an answer to an earlier review fits none.
 * @param toolCallIds ids of the calls that wait, in the order of the actions
 */
export function toAgUiInterrupts(
  { id, request }: Pick<PendingReview, 'id' | 'request'>,
  toolCallIds: readonly string[],
): AgUiInterrupt[] {
  return request.action_requests.map(({ name, args, description }, i) => {
    const toolCallId = toolCallIds[i];
    if (toolCallId === undefined) throw new RangeError('one id of a call for each action');
    const allowed_decisions = [...(request.review_configs[i]?.allowed_decisions ?? [])];
    return {
      id: interruptId(id, i),
      reason: 'tool_call',
      message: description,
      toolCallId,
      responseSchema: responseSchema(allowed_decisions.includes('edit')),
      metadata: { plangate: { name, args: structuredClone(args), allowed_decisions } },
    };
  });
}

/** Ids of the calls that wait, in the order of the actions: all calls of a gated tool wait together. */
export function waitingCallIds(request: ReviewRequest, messages: readonly Message[]): string[] {
  const answered = new Set(messages.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : [])));
  const gated = new Set(request.action_requests.map(({ name }) => name));
  const newest = messages.findLast((message) => message.role === 'assistant');
  return (newest?.tool_calls ?? [])
    .filter(({ id, name }) => gated.has(name) && !answered.has(id))
    .map(({ id }) => id);
}

/** `pending_review` from our own interrupts, for a client that has only these. */
export function fromAgUiInterrupts(interrupts: readonly AgUiInterrupt[]): ReviewRequest {
  return {
    action_requests: interrupts.map(({ message, metadata: { plangate } }) => ({
      name: plangate.name,
      args: structuredClone(plangate.args),
      description: message,
    })),
    review_configs: interrupts.map(({ metadata: { plangate } }) => ({
      action_name: plangate.name,
      allowed_decisions: [
        ...plangate.allowed_decisions,
      ] as ReviewRequest['review_configs'][number]['allowed_decisions'],
    })),
  };
}

/**
 * Decisions from a resume, in the order of the actions whatever the order of its entries. Each open interrupt has
 * to be answered once: `{approved: true}` approves, with `editedArgs` (all of them) it edits, `{approved: false}`
 * rejects with `message`; a cancelled one is rejected.
 * @throws {AgUiResumeError}
 */
export function fromAgUiResume(
  resume: unknown,
  { id, request }: Pick<PendingReview, 'id' | 'request'>,
): Decision[] {
  if (!Array.isArray(resume)) throw new AgUiResumeError('resume is a list');
  const entries = new Map<unknown, JsonObject>();
  for (const entry of resume as unknown[]) {
    if (!isJsonObject(entry)) throw new AgUiResumeError('an entry of resume is an object');
    if (entries.has(entry['interruptId'])) throw new AgUiResumeError('an interrupt is answered twice');
    entries.set(entry['interruptId'], entry);
  }
  const decisions = request.action_requests.map(({ name }, i) => {
    const entry = entries.get(interruptId(id, i));
    if (!entry) throw new AgUiResumeError('an open interrupt is not answered');
    return decisionOf(entry, name);
  });
  if (entries.size !== decisions.length)
    throw new AgUiResumeError('an interrupt is answered that is not open');
  return decisions;
}

/** Entries of `resume` for our decisions about a review. */
export function toAgUiResume(decisions: readonly Decision[], reviewId: string): AgUiResumeEntry[] {
  return decisions.map((decision, i) => ({
    interruptId: interruptId(reviewId, i),
    status: 'resolved',
    payload: payloadOf(decision),
  }));
}

function interruptId(reviewId: string, place: number): string {
  return `${reviewId}:${place}`;
}

function decisionOf({ status, payload }: JsonObject, shown: string): Decision {
  if (status === 'cancelled') return { type: 'reject' };
  if (status !== 'resolved') throw new AgUiResumeError("status is 'resolved' or 'cancelled'");
  if (!isJsonObject(payload) || typeof payload['approved'] !== 'boolean') {
    throw new AgUiResumeError("payload has 'approved', true or false");
  }
  const { approved, editedArgs, editedName, message } = payload;
  if (!approved) return { type: 'reject', ...(typeof message === 'string' ? { message } : {}) };
  if (editedArgs === undefined && editedName === undefined) return { type: 'approve' };
  if (!isJsonObject(editedArgs)) throw new AgUiResumeError("'editedArgs' is an object");
  if (editedName !== undefined && typeof editedName !== 'string') {
    throw new AgUiResumeError("'editedName' is a text");
  }
  return { type: 'edit', edited_action: { name: editedName ?? shown, args: editedArgs } };
}

function payloadOf({ type, edited_action, message }: Decision): JsonObject {
  if (type === 'reject') return { approved: false, ...(message ? { message } : {}) };
  if (type === 'approve' || !edited_action) return { approved: true };
  return { approved: true, editedName: edited_action.name, editedArgs: structuredClone(edited_action.args) };
}

/** `editedArgs` in it tells a client that it may offer an edit. */
function responseSchema(editable: boolean): JsonObject {
  const edit: JsonObject = {
    editedArgs: { type: 'object', description: 'All arguments of the call; nothing is merged.' },
    editedName: { type: 'string', description: 'Another tool; without it the proposed one.' },
  };
  return {
    type: 'object',
    properties: { approved: { type: 'boolean' }, message: { type: 'string' }, ...(editable ? edit : {}) },
    required: ['approved'],
  };
}
