import type { Decision, DecisionType, JsonObject, ReviewRequest } from '@plangate/contracts';
import { isJsonObject } from '@plangate/contracts/json';

/** The request as LangChain's JavaScript middleware spells it. */
export interface LangChainRequest {
  actionRequests: { name: string; args: JsonObject; description?: string }[];
  reviewConfigs: { actionName: string; allowedDecisions: DecisionType[] }[];
}

/** A decision as it spells it. */
export interface LangChainDecision {
  type: DecisionType;
  editedAction?: { name: string; args: JsonObject };
  message?: string;
}

/** `pending_review` in camel case. */
export function toLangChainRequest({ action_requests, review_configs }: ReviewRequest): LangChainRequest {
  return {
    actionRequests: structuredClone(action_requests),
    reviewConfigs: review_configs.map(({ action_name, allowed_decisions }) => ({
      actionName: action_name,
      allowedDecisions: [...allowed_decisions],
    })),
  };
}

/** `pending_review` from camel case. */
export function fromLangChainRequest({ actionRequests, reviewConfigs }: LangChainRequest): ReviewRequest {
  return {
    action_requests: actionRequests.map(({ name, args, description }) => ({
      name,
      args: structuredClone(args),
      description: description ?? '',
    })),
    review_configs: reviewConfigs.map(({ actionName, allowedDecisions }) => ({
      action_name: actionName,
      allowed_decisions: [...allowedDecisions],
    })),
  };
}

/**
 * Decisions of a LangChain client. They are renamed, not judged: what is no decision stays as it is, and
 * `validateDecisions` refuses it, the type `respond` too.
 */
export function fromLangChainDecisions(decisions: readonly unknown[]): unknown[] {
  return decisions.map((decision) => {
    if (!isJsonObject(decision) || !('editedAction' in decision)) return decision;
    const { editedAction, ...rest } = decision;
    return { ...rest, edited_action: editedAction };
  });
}

/** Our decisions for an agent that speaks LangChain's JavaScript. */
export function toLangChainDecisions(decisions: readonly Decision[]): LangChainDecision[] {
  return decisions.map(({ type, edited_action, message }) => ({
    type,
    ...(edited_action ? { editedAction: structuredClone(edited_action) } : {}),
    ...(message === undefined || message === null ? {} : { message }),
  }));
}
