import type { WorkflowEvent, WorkflowId } from '@plangate/contracts';
import type { EventLog } from '@plangate/events/redis';

const PAGE = 500;

/** All events of a workflow that are kept, oldest first. */
export async function allEvents(events: EventLog, id: WorkflowId): Promise<WorkflowEvent[]> {
  const all: WorkflowEvent[] = [];
  for (;;) {
    const page = await events.read(id, { after: { kind: 'seq', seq: all.at(-1)?.seq ?? 0 }, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
