import type { PlanRequest, WorkflowId } from '@plangate/contracts';
import { feedbacksUsed } from '@plangate/review';
import type { Planner } from '@plangate/review/use-cases';
import type { LlmClient, Logger, TraceHeaders } from '@plangate/service';
import type { TaskRecord } from '@plangate/tasks';
import type { TaskStore } from '@plangate/tasks/redis';

/**
 * Asks llm-service for the answer to a feedback, with the context and the model that the task was submitted with.
 * @param trace of the request, handed on
 * @param record null where it is lost: then the review alone has to do
 */
export function createPlanner(
  { llm, tasks, newId, log }: { llm: LlmClient; tasks: TaskStore; newId: () => string; log: Logger },
  workflowId: WorkflowId,
  record: TaskRecord | null,
  trace?: TraceHeaders,
): Planner {
  return async ({ state, message, final }) => {
    const request: PlanRequest = {
      ...record?.input.model,
      query: state.query,
      context: record?.context ?? {},
      conversation: [...state.rounds, { role: 'user', message, timestamp: new Date().toISOString() }],
      current_plan: state.current_plan,
      current_round: feedbacksUsed(state) + 1,
      max_rounds: state.max_rounds,
      ...(final ? { is_final_round: true } : {}),
    };
    const answer = await llm.plan(request, undefined, trace);
    // The tokens are spent whatever becomes of the answer; an answer is not held up by counting them.
    tasks.addUsage(workflowId, answer, `feedback:${newId()}`).catch((error: unknown) => {
      log.warn({ workflow_id: workflowId, err: error }, 'usage not counted');
    });
    return answer;
  };
}
