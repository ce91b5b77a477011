import type { WorkflowId } from '@plangate/contracts';
import type { Draft } from '@plangate/tasks/redis';
import type { Parts } from './parts.ts';
import type { WorkflowEnd } from './types.ts';

/**
 * Shows a finished result, which waits as a draft for the end of its task. The first draft stands: what a step that is
 * tried again would write now is neither shown nor kept, so that stream and result say the same.
 */
export async function publish(
  { events }: Pick<Parts, 'events'>,
  id: WorkflowId,
  draft: Draft,
): Promise<WorkflowEnd> {
  const { citations = [] } = draft.metadata;
  await events.append(id, [
    {
      key: 'output',
      type: 'LLM_OUTPUT',
      agent_id: 'final_output',
      message: draft.result,
      payload: { citations: citations.length },
    },
  ]);
  return { kind: 'completed' };
}
