import { randomUUID } from 'node:crypto';
import { ENGINE_UNAVAILABLE, type Owner, type Refusal, WorkflowId } from '@plangate/contracts';
import type { Logger } from '@plangate/service';
import { newRecord, type Submission, type TaskRecord } from '@plangate/tasks';
import type { TaskStore } from '@plangate/tasks/redis';
import type { Engine } from './engine.ts';

export interface StartParts {
  tasks: TaskStore;
  engine: Engine;
  log: Logger;
  /** A ULID. */
  newId: () => string;
}

/**
 * Records a task and starts its workflow. A start that certainly failed takes its record back; one whose outcome
 * nobody knows leaves it, and the sweep settles it within 70 s (contract/plan-review.md §1).
 */
export async function startTask(
  parts: StartParts,
  submission: Submission,
  owner: Owner,
): Promise<{ ok: true; record: TaskRecord } | Refusal> {
  const { tasks, engine, log, newId } = parts;
  const record = newRecord({
    submission,
    workflowId: WorkflowId.parse(`task-${newId()}`),
    owner,
    sessionId: submission.sessionId ?? randomUUID(),
    token: newId(),
    now: await tasks.now(),
  });
  const id = record.task_id;
  await tasks.create(record);
  const outcome = await engine.startTask(record.kind, record.input);
  if (outcome === 'started') {
    // The run is there: what cannot be noted now is noted by the workflow or by the sweep.
    await tasks.confirmStart(id).catch((error: unknown) => {
      log.warn({ workflow_id: id, err: error }, 'start not confirmed yet');
    });
    return { ok: true, record };
  }
  if (outcome === 'refused') {
    await tasks.removeUnstarted(id, record.start.token).catch((error: unknown) => {
      log.warn({ workflow_id: id, err: error }, 'record of a task that did not start not removed yet');
    });
  }
  return ENGINE_UNAVAILABLE;
}
