import type { Decision, DecisionType, JsonObject, JsonValue, ReviewRequest } from '@plangate/contracts';
import { isJsonObject } from '@plangate/contracts/json';
import { sameJson } from '../json-args.ts';

/** One action, as the Agent Inbox shows it. */
export interface HumanInterrupt {
  action_request: { action: string; args: JsonObject };
  config: { allow_ignore: boolean; allow_respond: boolean; allow_edit: boolean; allow_accept: boolean };
  description?: string;
}

/** What the Agent Inbox answers. */
export interface HumanResponse {
  type: 'accept' | 'edit' | 'response' | 'ignore';
  args: null | string | { action: string; args: JsonObject };
}

/** One interrupt for each action, in their order. Rejecting is both of the Inbox's ways to say no. */
export function toAgentInbox({ action_requests, review_configs }: ReviewRequest): HumanInterrupt[] {
  return action_requests.map(({ name, args, description }, i) => {
    const allowed = review_configs[i]?.allowed_decisions ?? [];
    const rejects = allowed.includes('reject');
    return {
      action_request: { action: name, args: structuredClone(args) },
      config: {
        allow_ignore: rejects,
        allow_respond: rejects,
        allow_edit: allowed.includes('edit'),
        allow_accept: allowed.includes('approve'),
      },
      description,
    };
  });
}

/** `pending_review` from the Inbox's interrupts. */
export function fromAgentInbox(interrupts: readonly HumanInterrupt[]): ReviewRequest {
  return {
    action_requests: interrupts.map(({ action_request: { action, args }, description }) => ({
      name: action,
      args: structuredClone(args),
      description: description ?? '',
    })),
    review_configs: interrupts.map(({ action_request, config }) => ({
      action_name: action_request.action,
      allowed_decisions: allowedBy(config),
    })),
  };
}

/**
 * Decisions from the Inbox's responses, by place. `accept` approves what was shown, whatever arguments it carries;
 * `response` rejects with its text, `ignore` without one. The Inbox sends edited values as text: where the shown
 * value was no text, the JSON in it counts. What is no response stays as it is: `validateDecisions` refuses it.
 */
export function fromAgentInboxResponses(responses: readonly unknown[], request: ReviewRequest): unknown[] {
  return responses.map((response, i) => {
    if (!isJsonObject(response)) return response;
    const { type, args } = response;
    if (type === 'accept') return { type: 'approve' };
    if (type === 'ignore') return { type: 'reject' };
    if (type === 'response') return { type: 'reject', message: args };
    if (type !== 'edit') return response;
    const shown = request.action_requests[i]?.args ?? {};
    return { type: 'edit', edited_action: isJsonObject(args) ? editedAction(args, shown) : args };
  });
}

/** Responses of the Inbox for our decisions about `request`. */
export function toAgentInboxResponses(
  decisions: readonly Decision[],
  request: ReviewRequest,
): HumanResponse[] {
  return decisions.map((decision, i) => {
    const shown = request.action_requests[i];
    const { type, edited_action, message } = decision;
    if (type === 'approve') return { type: 'accept', args: shown ? named(shown) : null };
    if (type === 'edit') return { type: 'edit', args: edited_action ? named(edited_action) : null };
    return message ? { type: 'response', args: message } : { type: 'ignore', args: null };
  });
}

function named({ name, args }: { name: string; args: JsonObject }) {
  return { action: name, args: structuredClone(args) };
}

function allowedBy({ allow_accept, allow_edit, allow_ignore, allow_respond }: HumanInterrupt['config']) {
  const allowed: DecisionType[] = [];
  if (allow_accept) allowed.push('approve');
  if (allow_edit) allowed.push('edit');
  if (allow_ignore || allow_respond) allowed.push('reject');
  return allowed;
}

function editedAction({ action, args }: JsonObject, shown: JsonObject): JsonValue {
  if (!isJsonObject(args)) return { name: action ?? null, args: args ?? null };
  const typed = Object.entries(args).map(([key, value]): [string, JsonValue] => [
    key,
    typeof value === 'string' && Object.hasOwn(shown, key) ? asShown(value, shown[key] ?? null) : value,
  ]);
  return { name: action ?? null, args: Object.fromEntries(typed) };
}

/** The value that the text stands for, where what was shown was no text. */
function asShown(text: string, shown: JsonValue): JsonValue {
  if (typeof shown === 'string') return text;
  if (text === String(shown)) return shown;
  try {
    const value: JsonValue = JSON.parse(text);
    return sameJson(value, shown) ? shown : value;
  } catch {
    return text;
  }
}
