import type { EventType, TaskMetadata, TaskStatus } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';

/** Every way in which a task ends (`contract/plan-review.md` §1, table of ends). */
export type TaskEnd =
  | {
      kind: 'completed';
      result: string;
      metadata?: TaskMetadata;
      modelUsed?: string;
      provider?: string;
    }
  | { kind: 'review_timed_out' }
  | { kind: 'rejected'; reason?: string }
  | { kind: 'cancelled'; reason?: string; by?: string }
  /** Its error is a fixed text; the reason, in words for the person who asked, stands beside it. */
  | { kind: 'plan_failed'; reason?: string }
  | { kind: 'research_failed'; reason: string }
  /** A task that is not research got no answer. */
  | { kind: 'answer_failed'; reason: string }
  /** No run was found for a record that stayed queued. */
  | { kind: 'not_started' }
  /** The run is over and left no end behind: terminated, or lost with the engine's data. */
  | { kind: 'lost' };

export interface DescribedEnd {
  status: TaskStatus;
  result: string;
  /** Null: the task did what it was asked. */
  error: string | null;
  /** In the order of appending: the error where there is one, exactly one terminal event, `STREAM_END`. */
  events: KeyedEvent[];
}

/**
 * Status, result, error and last events of an end. The keys are the same for every writer, so that workflow
 * and sweep together append each event once. The error event of a review that timed out is not here: the
 * script that closes the review appends it.
 */
export function describeEnd(end: TaskEnd): DescribedEnd {
  switch (end.kind) {
    case 'completed':
      return completed(end.result, null);
    case 'review_timed_out':
      return completed('', 'research plan review timed out');
    case 'rejected':
      return cancelled(withReason('research plan rejected', end.reason));
    case 'cancelled':
      return cancelled(withReason('task cancelled', end.reason));
    case 'plan_failed':
      return failed(end.kind, 'failed to generate research plan', end.reason);
    case 'research_failed':
    case 'answer_failed':
      return failed(end.kind, end.reason);
    case 'not_started':
      return failed(end.kind, 'task could not be started');
    case 'lost':
      return failed(end.kind, 'task ended without a result');
  }
}

function completed(result: string, error: string | null): DescribedEnd {
  return {
    status: 'TASK_STATUS_COMPLETED',
    result,
    error,
    events: [terminal('WORKFLOW_COMPLETED', 'All done'), STREAM_END],
  };
}

function cancelled(error: string): DescribedEnd {
  return {
    status: 'TASK_STATUS_CANCELLED',
    result: '',
    error,
    events: [terminal('WORKFLOW_CANCELLED', error), STREAM_END],
  };
}

/** @param reason why, where `error` does not say it */
function failed(code: string, error: string, reason?: string): DescribedEnd {
  return {
    status: 'TASK_STATUS_FAILED',
    result: '',
    error,
    events: [
      {
        key: 'end:error',
        type: 'ERROR_OCCURRED',
        agent_id: 'orchestrator',
        message: withReason(error, reason),
        payload: { code, ...(reason ? { reason } : {}) },
      },
      terminal('WORKFLOW_FAILED', error),
      STREAM_END,
    ],
  };
}

function terminal(type: EventType, message: string): KeyedEvent {
  return { key: 'end:terminal', type, agent_id: 'orchestrator', message };
}

const STREAM_END: KeyedEvent = {
  key: 'end:stream',
  type: 'STREAM_END',
  agent_id: 'orchestrator',
  message: '',
};

function withReason(text: string, reason: string | undefined): string {
  return reason ? `${text}: ${reason}` : text;
}
