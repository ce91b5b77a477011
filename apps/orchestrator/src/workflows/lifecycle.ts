import type { TaskInput } from '@plangate/contracts';
import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  log,
} from '@temporalio/workflow';
import type { WorkflowEnd } from '../activities/index.ts';
import { stores } from './activities.ts';
import type { TaskControl } from './control.ts';

/** Types of the failures whose words were written for the person who asked; those of a library are not. */
const FOR_PEOPLE = /^(llm_\w+|plan_mismatch|task_over|review_gone)$/;

/** Why the work failed, in words that may be shown to the person who asked. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.message && FOR_PEOPLE.test(cause.type ?? '')
    ? cause.message
    : 'the work failed unexpectedly';
}

/**
 * The frame of every task: announces the start, runs `work`, and writes exactly one end, whatever happens: a
 * cancel by signal, a cancel by the engine, a failure. `trueEnd` runs in any case before that, and may know better.
 * @returns the kind of the end, for people who look at the run in the engine
 */
export async function runTask(
  input: TaskInput,
  control: TaskControl,
  work: () => Promise<WorkflowEnd>,
  trueEnd: (end: WorkflowEnd) => Promise<WorkflowEnd> = async (end) => end,
): Promise<string> {
  let end: WorkflowEnd;
  try {
    end = await control.cancellable(async () => {
      await stores.beginTask(input);
      control.begun();
      return await work();
    });
  } catch (error) {
    end = endOf(error, control);
  }
  control.begun();
  await CancellationScope.nonCancellable(async () => {
    end = await trueEnd(end);
    if (end.kind === 'cancelled') {
      const { reason = '', by = '' } = control.cancelled ?? end;
      await stores.recordCancelling(input.workflow_id, { reason, by });
    }
    await stores.endTask(input.workflow_id, end);
    await condition(allHandlersFinished);
  });
  return end.kind;
}

function endOf(error: unknown, control: TaskControl): WorkflowEnd {
  // A step that a cancel broke off may fail in its own way first.
  if (isCancellation(error) || control.cancelled) {
    const reason = control.cancelled?.reason;
    return reason ? { kind: 'cancelled', reason } : { kind: 'cancelled' };
  }
  log.error('task failed', { error });
  return { kind: 'research_failed', reason: reasonOf(error) };
}
