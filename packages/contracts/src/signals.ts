/**
 * The names by which gateway and worker meet. Nothing else stands here, above all no schema: workflow code imports
 * it, and what it imports is evaluated anew for every workflow that waits.
 */

export const RESEARCH_WORKFLOW = 'ResearchWorkflow';
export const TASK_WORKFLOW = 'TaskWorkflow';

export const CANCEL_SIGNAL = 'cancel';
export const PAUSE_SIGNAL = 'pause';
export const RESUME_SIGNAL = 'resume';

/** Name of the signal that wakes a workflow waiting for its review. */
export function approvalSignal(workflowId: string): string {
  return `research-plan-approved-${workflowId}`;
}
