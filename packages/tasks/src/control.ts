import { type Refusal, refuse, type TaskStatus } from '@plangate/contracts';
import type { TaskRecord } from './record.ts';

export type ControlAction = 'pause' | 'resume' | 'cancel';

/** How an ended task is called in a refusal; a status that is not here is an open one. */
const ENDED: Partial<Record<TaskStatus, string>> = {
  TASK_STATUS_COMPLETED: 'completed',
  TASK_STATUS_FAILED: 'failed',
  TASK_STATUS_CANCELLED: 'cancelled',
  TASK_STATUS_TIMEOUT: 'timed out',
};

/** True when the task has its end: nothing changes its status any more. */
export function isEnded(status: TaskStatus): boolean {
  return ENDED[status] !== undefined;
}

/**
 * Whether a task can be paused, resumed or cancelled now, or the 409 with its reason
 * (`contract/plan-review.md` §1), judged by what was last asked of the workflow: it may not have recorded that yet.
 * `repeat` is true for a second cancel, which is answered like the first.
 */
export function decideControl(
  record: Pick<TaskRecord, 'status' | 'control' | 'wanted'>,
  action: ControlAction,
): { ok: true; repeat: boolean } | Refusal {
  const ended = ENDED[record.status];
  const { wanted, control } = record;
  const cancelled =
    record.status === 'TASK_STATUS_CANCELLED' || (!ended && (control.is_cancelled || wanted === 'cancelled'));
  if (action === 'cancel' && cancelled) return { ok: true, repeat: true };
  if (ended || cancelled) {
    return refuse(409, 'task_over', `cannot ${action} ${ended ?? 'cancelled'} task`);
  }
  const paused =
    wanted === '' ? record.status === 'TASK_STATUS_PAUSED' || control.is_paused : wanted === 'paused';
  if (action === 'pause' && paused) return refuse(409, 'already_paused', 'task is already paused');
  if (action === 'resume' && !paused) return refuse(409, 'not_paused', 'task is not paused');
  return { ok: true, repeat: false };
}
