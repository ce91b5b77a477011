import { randomUUID } from 'node:crypto';
import { ENGINE_UNAVAILABLE, type Owner, type Refusal, WorkflowId } from '@plangate/contracts';
import type { Ticket } from '@plangate/http';
import { Pace } from '@plangate/review/use-cases';
import type { Logger, TraceHeaders } from '@plangate/service';
import { isEnded, newRecord, type Submission, type TaskRecord } from '@plangate/tasks';
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
 * @param ids reserves the task's id before anything is written, so that a repeated request finds what the one
 * before has begun
 */
export async function startTask(
  parts: StartParts,
  submission: Submission,
  owner: Owner,
  ids: Pick<Ticket, 'reserve' | 'reserveAnew'>,
  trace?: TraceHeaders,
): Promise<{ ok: true; record: TaskRecord } | Refusal> {
  const { tasks, engine, log } = parts;
  const pace = new Pace();
  const record = await recordTask(parts, submission, owner, ids);
  const id = record.task_id;
  if (record.start.confirmed) return { ok: true, record };
  // Stopped for long: the sweep may have given the record up meanwhile, and then nothing may run under its id.
  const stalled = pace.check();
  if (stalled) return stalled;
  const outcome = await engine.startTask(record.kind, record.input, trace);
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

/** The record under the reserved id: a new one, or what an earlier attempt has left. */
async function recordTask(
  { tasks, newId }: StartParts,
  submission: Submission,
  owner: Owner,
  ids: Pick<Ticket, 'reserve' | 'reserveAnew'>,
): Promise<TaskRecord> {
  const newTaskId = () => `task-${newId()}`;
  const sessionId = submission.sessionId ?? randomUUID();
  let id = await ids.reserve(newTaskId);
  for (;;) {
    const workflowId = WorkflowId.parse(id);
    const now = await tasks.now();
    const { record } = await tasks.create(
      newRecord({ submission, workflowId, owner, sessionId, token: newId(), now }),
    );
    if (!wasGivenUp(record)) return record;
    id = newTaskId();
    await ids.reserveAnew(id);
  }
}

/** The sweep has ended it, as no run was found: nothing will ever run under this id. */
function wasGivenUp({ status, start }: TaskRecord): boolean {
  return isEnded(status) && !start.confirmed;
}
