import type { EditedAction, ReviewRequest } from '@plangate/contracts';
import { isJsonObject } from '@plangate/contracts/json';
import { isBlank } from '@plangate/contracts/text';
import { InvalidReviewDecisionError, NoPendingReviewError } from './errors.ts';
import { readArguments } from './json-args.ts';
import { NO_DECISION, REJECTED_BY_USER_MESSAGE } from './texts.ts';

/** A decision with what its type needs, and nothing else. */
export type ReadDecision =
  | { type: 'approve' }
  | { type: 'edit'; action: EditedAction }
  /** `reason`: what the model is told. */
  | { type: 'reject'; reason: string };

/**
 * Checks decisions against the actions that wait, in the order of contract/tool-approval.md §1: is there a review,
 * the number, then each decision. Returns them read.
 * @throws {NoPendingReviewError | InvalidReviewDecisionError} at the first fault
 */
export function validateDecisions(decisions: unknown, pendingReview: ReviewRequest | null): ReadDecision[] {
  if (pendingReview === null) throw new NoPendingReviewError();
  const wanted = pendingReview.action_requests.length;
  const given = Array.isArray(decisions) ? decisions.length : 0;
  if (!Array.isArray(decisions) || given !== wanted) {
    throw InvalidReviewDecisionError.wrongNumber(wanted, given);
  }
  return Array.from(decisions, readDecision);
}

/**
 * Reads the value of a direct resume: `{decisions}` or its JSON text. Too few decisions are filled up with
 * `NO_DECISION`, surplus ones ignored (contract/tool-approval.md §4).
 * @throws {InvalidReviewDecisionError} where the value, or a decision that counts, has another shape
 */
export function readResume(resume: unknown, actions: number): ReadDecision[] {
  const value = typeof resume === 'string' ? parsed(resume) : resume;
  if (!isJsonObject(value) || !Array.isArray(value['decisions'])) {
    throw InvalidReviewDecisionError.noDecisions();
  }
  const given: unknown[] = value['decisions'];
  return Array.from({ length: actions }, (_, i) => readDecision(i < given.length ? given[i] : NO_DECISION));
}

function readDecision(value: unknown): ReadDecision {
  const fields = isJsonObject(value) ? value : {};
  switch (fields['type']) {
    case 'approve':
      return { type: 'approve' };
    case 'edit':
      return { type: 'edit', action: readEdit(fields['edited_action']) };
    case 'reject':
      return { type: 'reject', reason: readReason(fields['message']) };
    default:
      throw InvalidReviewDecisionError.unknownType(fields['type']);
  }
}

function readEdit(value: unknown): EditedAction {
  if (value === undefined || value === null) throw InvalidReviewDecisionError.editWithoutAction();
  if (!isJsonObject(value) || typeof value['name'] !== 'string' || typeof value['args'] !== 'object') {
    throw InvalidReviewDecisionError.malformedAction();
  }
  const read = readArguments(value['args']);
  if (!read.ok) throw InvalidReviewDecisionError.malformedAction();
  return { name: value['name'], args: read.args };
}

function readReason(value: unknown): string {
  if (value === undefined || value === null) return REJECTED_BY_USER_MESSAGE;
  if (typeof value !== 'string') throw InvalidReviewDecisionError.messageNotText();
  return isBlank(value) ? REJECTED_BY_USER_MESSAGE : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
