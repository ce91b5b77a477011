import { PlangateError } from './http/errors.ts';
import type { TaskBody } from './wire.ts';

const OVER: ReadonlySet<TaskBody['status']> = new Set([
  'TASK_STATUS_COMPLETED',
  'TASK_STATUS_FAILED',
  'TASK_STATUS_CANCELLED',
  'TASK_STATUS_TIMEOUT',
] as const);

/** True for a task that has its end and will not change any more. */
export function isOver(task: { status: TaskBody['status'] }): boolean {
  return OVER.has(task.status);
}

/** A task has ended where something of it was still waited for. */
export class TaskEndedError extends PlangateError {
  override name = 'TaskEndedError';
  /** The task with its end. */
  readonly task: TaskBody;

  constructor(task: TaskBody) {
    super(
      `task ${task.task_id} has ended (${task.status}) ${task.error ? `with: ${task.error}` : 'without a review'}`,
    );
    this.task = task;
  }
}
