import type { CancelSignal, EventType, PauseSignal, WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import type { Parts } from './parts.ts';

type Change = { workflowId: string; number: number } & PauseSignal;

/** Pause, resume and cancel as clients see them: the record's control state, and its events. */
export function controlActivities({ tasks, events }: Parts) {
  return {
    async recordPause({ workflowId, number, ...who }: Change): Promise<void> {
      const event = changed(`pausing:${number}`, 'WORKFLOW_PAUSING', withReason('Pausing', who), who);
      await tasks.setPaused(workflowId as WorkflowId, who, [event]);
    },

    /** Nothing of the task is running any more. */
    async announcePaused({ workflowId, number, ...who }: Change): Promise<void> {
      const event = changed(`paused:${number}`, 'WORKFLOW_PAUSED', 'Paused', who);
      await events.append(workflowId as WorkflowId, [event]);
    },

    async recordResume({ workflowId, number, ...who }: Change): Promise<void> {
      const event = changed(`resumed:${number}`, 'WORKFLOW_RESUMED', 'Resumed', who);
      await tasks.setResumed(workflowId as WorkflowId, [event]);
    },

    /** Shows that a cancel is on its way; an empty `by`: the engine cancelled the run itself. */
    async recordCancelling(workflowId: string, who: CancelSignal): Promise<void> {
      const event = changed('cancelling', 'WORKFLOW_CANCELLING', withReason('Cancelling', who), who);
      await tasks.setCancelling(workflowId as WorkflowId, who, [event]);
    },
  };
}

function changed(key: string, type: EventType, message: string, { reason, by }: PauseSignal): KeyedEvent {
  return { key, type, agent_id: 'orchestrator', message, payload: { reason, by } };
}

function withReason(text: string, { reason }: PauseSignal): string {
  return reason ? `${text}: ${reason}` : text;
}
