import type { CancelSignal, TaskInput, WorkflowId } from '@plangate/contracts';
import type { Decision, ReviewOrigin, ReviewState } from '@plangate/review';
import { cancelReview, closeReview as close, settleDecision, sha256 } from '@plangate/review/use-cases';
import { ApplicationFailure } from '@temporalio/activity';
import type { Parts } from './parts.ts';
import type { OpenedReview, WorkflowEnd } from './types.ts';

/** What a workflow needs to know of its review. */
export interface ReviewReading extends OpenedReview {
  decision: Decision | null;
  /** The plan decided on; `""` while there is no decision. */
  plan: string;
  /** Version of the review at which that plan was written; 0 where there is none. */
  plan_version: number;
}

interface Settlement {
  input: TaskInput;
  decision: Decision;
  planText: string;
}

/** Review state as the workflow reads and settles it (design rule 5). */
export function reviewActivities({ reviews, tasks, log }: Parts) {
  return {
    /** Null where there is none: the store came back without it, or it was let go. */
    async readReview(workflowId: string): Promise<ReviewReading | null> {
      const { state } = await reviews.load(workflowId as WorkflowId);
      return state && readingOf(state);
    },

    /** The deadline fired: closes the review, or says what is true instead. */
    async closeReview(input: TaskInput, deadline: string): Promise<ReviewReading> {
      const closed = await close({ store: reviews }, originOf(input), deadline);
      if (!closed.ok) throw ApplicationFailure.nonRetryable(closed.error, closed.code);
      return readingOf(closed.state);
    },

    /**
     * Reminds people that a share of the wait is over.
     * @returns false where the review is not open any more; where it was extended and the share is not over yet, the
     * milliseconds until then, and nothing is said
     */
    async remind(workflowId: string, share: number): Promise<boolean | number> {
      const id = workflowId as WorkflowId;
      const { state, now } = await reviews.load(id);
      if (state?.status !== 'reviewing') return false;
      const { version, expires_at } = state;
      const early = Math.ceil(reminderDueAt(state, share) - now);
      if (early > EARLY_MS) return early;
      return reviews.announceWhileOpen(id, [
        {
          key: `reminder:${share}`,
          type: 'REVIEW_REMINDER',
          agent_id: 'planner',
          message: `The plan waits for a review until ${expires_at}`,
          payload: { version, expires_at, share },
        },
      ]);
    },

    settle,

    /**
     * Leaves nothing of the review open when the task ends: acknowledges once more what was acted upon; closes a
     * review that nobody decided; takes note of a decision that came too late to be acted upon.
     * @returns the end that a review which was rejected or timed out means, whatever came after it; else null
     */
    async finishReview(finish: {
      input: TaskInput;
      acted: { decision: Decision; planText: string } | null;
      cancelled: CancelSignal | null;
      /** The task ends by a cancel: a review that was never opened must not be opened later. */
      closeUnopened: boolean;
    }): Promise<WorkflowEnd | null> {
      const { input, acted, cancelled, closeUnopened } = finish;
      if (acted) {
        await settle({ input, ...acted });
        return endBy(acted.decision);
      }
      const id = input.workflow_id as WorkflowId;
      let { state } = await reviews.load(id);
      if (!state && !closeUnopened) return null;
      if (!state || state.status === 'reviewing') {
        const by = cancelled?.by ?? 'engine';
        const newCommandId = () => cancelled?.decision_id ?? 'cancel:task-ended';
        const closed = await cancelReview(
          { store: reviews, newCommandId },
          originOf(input),
          by,
          cancelled?.reason,
        );
        // Somebody else has ended the task already: then there is nothing left to close.
        if (!closed.ok) return null;
        state = closed.state;
      }
      const { status, decision, current_plan } = state;
      if (!decision) return status === 'timed_out' ? { kind: 'review_timed_out' } : null;
      // An approval of another text than the one that is stored was not acted upon, and is not announced.
      if (isIntact(state)) await settle({ input, decision, planText: current_plan });
      else await reviews.acknowledge(id, decision.id, []);
      return endBy(decision);
    },
  };

  async function settle({ input, decision, planText }: Settlement): Promise<void> {
    const id = input.workflow_id as WorkflowId;
    const { state } = await reviews.load(id);
    if (decision.action === 'approve' && state) {
      await tasks.setContext(id, {
        confirmed_plan: planText,
        review_conversation: state.rounds,
        ...(state.research_brief ? { research_brief: state.research_brief } : {}),
      });
    }
    await settleDecision(reviews, id, decision, planText);
    log.info({ workflow_id: id, decision_id: decision.id, action: decision.action }, 'decision settled');
  }
}

function endBy({ action, reason }: Decision): WorkflowEnd | null {
  if (action !== 'reject') return null;
  return reason ? { kind: 'rejected', reason } : { kind: 'rejected' };
}

/** A timer of the engine and the clock of the store may differ a little: a reminder that comes this early is said. */
const EARLY_MS = 100;

/** When a share of the whole wait is over, in milliseconds since 1970. */
function reminderDueAt({ created_at, expires_at }: ReviewState, share: number): number {
  const [from, to] = [Date.parse(created_at), Date.parse(expires_at)];
  return from + (to - from) * share;
}

/** What a review of this task starts from. */
export function originOf(input: TaskInput): ReviewOrigin {
  if (!input.review) throw new Error('the task has no review');
  return {
    workflowId: input.workflow_id as WorkflowId,
    owner: input.owner,
    query: input.query,
    maxRounds: input.review.max_rounds,
  };
}

/** @throws a failure that no retry mends, where the plan is not the one that was approved (design rule 6) */
function readingOf(state: ReviewState): ReviewReading {
  const { status, expires_at, decision, plan_version } = state;
  if (!decision) return { status, expires_at, decision: null, plan: '', plan_version };
  if (!isIntact(state)) {
    throw ApplicationFailure.nonRetryable('the plan is not the one that was approved', 'plan_mismatch');
  }
  return { status, expires_at, decision, plan: state.current_plan, plan_version };
}

/** False where a plan was approved that is not the one that is stored. */
function isIntact({ decision, current_plan }: ReviewState): boolean {
  return decision?.action !== 'approve' || sha256(current_plan) === decision.plan_sha256;
}
