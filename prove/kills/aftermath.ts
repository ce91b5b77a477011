import type { AuditEntry, ReviewBody, TaskBody, WorkflowEvent } from '@plangate/contracts';
import type { PlanVersion } from '@plangate/review';
import type { Killable } from './killable.ts';

/** What the service says of a review after its task's end. */
export interface Aftermath {
  task: TaskBody;
  review: ReviewBody;
  audit: AuditEntry[];
  versions: PlanVersion[];
  events: WorkflowEvent[];
}

export async function lookBack({ client }: Pick<Killable, 'client'>, id: string): Promise<Aftermath> {
  const read = async (suffix: string) => (await client.ask(`/api/v1/tasks/${id}${suffix}`)).json;
  const [task, review, audit, versions, events] = await Promise.all([
    read(''),
    read('/review?wait=0'),
    read('/review/audit'),
    read('/review/versions'),
    read('/timeline'),
  ]);
  return { task, review, audit: audit.entries, versions: versions.versions, events: events.events };
}
