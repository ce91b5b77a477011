import type { PauseSignal, WorkflowId } from '@plangate/contracts';
import type { Parts } from './parts.ts';

type Change = { workflowId: string; number: number } & PauseSignal;

/** Pause and resume as clients see them: the record's control state, and its events. */
export function controlActivities({ tasks, events }: Parts) {
  return {
    async recordPause({ workflowId, number, reason, by }: Change): Promise<void> {
      await tasks.setPaused(workflowId as WorkflowId, { reason, by }, [
        {
          key: `pausing:${number}`,
          type: 'WORKFLOW_PAUSING',
          agent_id: 'orchestrator',
          message: reason ? `Pausing: ${reason}` : 'Pausing',
          payload: { reason, by },
        },
      ]);
    },

    /** Nothing of the task is running any more. */
    async announcePaused({ workflowId, number, reason, by }: Change): Promise<void> {
      await events.append(workflowId as WorkflowId, [
        {
          key: `paused:${number}`,
          type: 'WORKFLOW_PAUSED',
          agent_id: 'orchestrator',
          message: 'Paused',
          payload: { reason, by },
        },
      ]);
    },

    async recordResume({ workflowId, number, reason, by }: Change): Promise<void> {
      await tasks.setResumed(workflowId as WorkflowId, [
        {
          key: `resumed:${number}`,
          type: 'WORKFLOW_RESUMED',
          agent_id: 'orchestrator',
          message: 'Resumed',
          payload: { reason, by },
        },
      ]);
    },
  };
}
