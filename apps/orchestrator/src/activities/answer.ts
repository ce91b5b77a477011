import type { TaskInput, WorkflowId } from '@plangate/contracts';
import { askModel } from './faults.ts';
import type { Parts } from './parts.ts';
import type { WorkflowEnd } from './types.ts';

/** The one answer to a task that is not research. */
export function answerActivities({ llm, tasks, drafts, events }: Parts) {
  return {
    async answerTask(input: TaskInput): Promise<WorkflowEnd> {
      const id = input.workflow_id as WorkflowId;
      const { query, context } = input;
      const answer = await askModel('answer', (signal) =>
        llm.answer({ ...input.model, query, context }, signal),
      );
      await tasks.addUsage(id, answer, 'answer');
      const citations = answer.citations ?? [];
      await drafts.save(id, {
        result: answer.answer,
        metadata: citations.length > 0 ? { citations } : {},
        modelUsed: answer.model,
        provider: answer.provider,
      });
      await events.append(id, [
        {
          key: 'output',
          type: 'LLM_OUTPUT',
          agent_id: 'final_output',
          message: answer.answer,
          payload: { citations: citations.length },
        },
      ]);
      return { kind: 'completed' };
    },
  };
}
