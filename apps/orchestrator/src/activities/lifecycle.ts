import type { NewEvent, TaskInput, WorkflowId } from '@plangate/contracts';
import { expireFinishedReview } from '@plangate/review/use-cases';
import type { TaskEnd } from '@plangate/tasks';
import { endTask as writeEnd } from '@plangate/tasks/redis';
import { ApplicationFailure } from '@temporalio/activity';
import type { Parts } from './parts.ts';
import type { WorkflowEnd } from './types.ts';

/** Start and end of a task, and events in between; all of them may be tried again. */
export function lifecycleActivities({ tasks, drafts, findings, events, reviews, keepEventsSeconds }: Parts) {
  return {
    /** The task is running from now on, announced once. */
    async beginTask(input: TaskInput): Promise<void> {
      const started: NewEvent & { key: string } = {
        key: 'started',
        type: 'WORKFLOW_STARTED',
        agent_id: 'orchestrator',
        message: 'Starting up',
        payload: { task_context: input.context },
      };
      const outcome = await tasks.markRunning(input.workflow_id as WorkflowId, [started]);
      if (outcome === 'ended' || outcome === 'absent') {
        throw ApplicationFailure.nonRetryable('the task is over already', 'task_over');
      }
    },

    /** Appends an event once, whatever the attempt. */
    async announce(workflowId: string, key: string, event: NewEvent): Promise<void> {
      await events.append(workflowId as WorkflowId, [{ ...event, key }]);
    },

    /** Writes the one end of the task, lets events and review expire, and takes it out of the open ones. */
    async endTask(workflowId: string, end: WorkflowEnd): Promise<void> {
      const id = workflowId as WorkflowId;
      await writeEnd(id, await withResult(id, end), {
        store: tasks,
        events,
        keepEventsSeconds,
        afterEnd: () => expireFinishedReview(reviews, id),
      });
      await Promise.all([drafts.remove(id), findings.remove(id)]);
    },
  };

  async function withResult(id: WorkflowId, end: WorkflowEnd): Promise<TaskEnd> {
    if (end.kind !== 'completed') return end;
    const draft = await drafts.load(id);
    return draft
      ? { kind: 'completed', ...draft }
      : { kind: 'research_failed', reason: 'the result was lost' };
  }
}
