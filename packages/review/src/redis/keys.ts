import { slotOf, type WorkflowId } from '@plangate/contracts';

/** The names of all keys of a review; they share the workflow's slot. */
export interface ReviewKeys {
  /** Hash: state, body, version, owner, status, deadline, undelivered decision. */
  review: string;
  /** Hash: id of each applied command -> the version that it made. */
  commands: string;
  /** Hash: version -> text that became the plan with it. */
  plans: string;
  /** Redlock's key while a model call runs. */
  lock: string;
  /** List: accepted steps, each chained to the one before. It outlives the review. */
  audit: string;
  /** List: what the owner was refused, a chain of its own. */
  refused: string;
  /** List: what others were refused, a third chain: strangers cannot push the owner's entries out. */
  foreign: string;
}

export function reviewKeys(workflowId: WorkflowId): ReviewKeys {
  const review = `review:${slotOf(workflowId)}`;
  const audit = `audit:${slotOf(workflowId)}`;
  return {
    review,
    commands: `${review}:commands`,
    plans: `${review}:plans`,
    lock: `${review}:lock`,
    audit,
    refused: `${audit}:refused`,
    foreign: `${audit}:foreign`,
  };
}

/** Key of the record of an Idempotency-Key, named by the hash of caller, route and key. */
export function idempotencyKey(workflowId: WorkflowId, hash: string): string {
  return `${reviewKeys(workflowId).review}:idem:${hash}`;
}
