import type { TaskInput, WorkflowId } from '@plangate/contracts';
import { neutralMarkup } from '@plangate/research';
import { askModel } from './faults.ts';
import type { Parts } from './parts.ts';
import { publish } from './publish.ts';
import type { WorkflowEnd } from './types.ts';

/** The one answer to a task that is not research. */
export function answerActivities(parts: Parts) {
  const { llm, tasks, drafts } = parts;
  return {
    async answerTask(input: TaskInput): Promise<WorkflowEnd> {
      const id = input.workflow_id as WorkflowId;
      const standing = await drafts.load(id);
      if (standing) return publish(parts, id, standing);
      const { query, context } = input;
      const answer = await askModel('answer', (signal) =>
        llm.answer({ ...input.model, query, context }, signal),
      );
      await tasks.addUsage(id, answer, 'answer');
      const citations = answer.citations ?? [];
      const draft = {
        // As a report: Markdown that loads and runs nothing, whoever renders it.
        result: neutralMarkup(answer.answer),
        metadata: citations.length > 0 ? { citations } : {},
        modelUsed: answer.model,
        provider: answer.provider,
      };
      return publish(parts, id, await drafts.save(id, draft));
    },
  };
}
