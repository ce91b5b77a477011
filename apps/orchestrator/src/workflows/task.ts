import type { TaskInput } from '@plangate/contracts';
import { isCancellation } from '@temporalio/workflow';
import type { WorkflowEnd } from '../activities/index.ts';
import { agents } from './activities.ts';
import { TaskControl } from './control.ts';
import { reasonOf, runTask } from './lifecycle.ts';

/** A task that is not research: one answer of a model. */
export async function TaskWorkflow(input: TaskInput): Promise<string> {
  const control = new TaskControl(input.workflow_id);
  return runTask(input, control, () => answer(input, control));
}

async function answer(input: TaskInput, control: TaskControl): Promise<WorkflowEnd> {
  try {
    return await control.step(() => agents.answerTask(input));
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { kind: 'answer_failed', reason: reasonOf(error) };
  }
}
