import type { IncomingMessage } from 'node:http';
import { sameOwner, type WorkflowId } from '@plangate/contracts';
import { HttpError, principalOf } from '@plangate/http';
import type { TaskRecord } from '@plangate/tasks';
import type { TaskStore } from '@plangate/tasks/redis';

/**
 * The caller's own task.
 * @throws {HttpError} 404, for another owner's task too
 */
export async function loadOwnTask(
  tasks: TaskStore,
  req: IncomingMessage,
  id: WorkflowId,
): Promise<TaskRecord> {
  const record = await tasks.load(id);
  if (!record || !sameOwner(record.owner, principalOf(req).owner)) throw taskNotFound();
  return record;
}

/** As {@link loadOwnTask}, without reading the record. */
export async function requireOwnTask(tasks: TaskStore, req: IncomingMessage, id: WorkflowId): Promise<void> {
  if (!sameOwner(await tasks.loadOwner(id), principalOf(req).owner)) throw taskNotFound();
}

function taskNotFound(): HttpError {
  return new HttpError(404, 'task_not_found', 'Task not found');
}
