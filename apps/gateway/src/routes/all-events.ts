import type { WorkflowEvent, WorkflowId } from '@plangate/contracts';
import type { EventLog } from '@plangate/events/redis';

/** An event has 64 KiB at most: so many of them are held at a time. */
const PAGE = 200;

/** All events of a workflow that are kept, oldest first, a page at a time. */
export async function* eventPages(events: EventLog, id: WorkflowId): AsyncGenerator<WorkflowEvent[]> {
  let seq = 0;
  for (;;) {
    const page = await events.read(id, { after: { kind: 'seq', seq }, limit: PAGE });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    seq = page.at(-1)?.seq ?? seq;
  }
}

/** The same in one piece. */
export async function allEvents(events: EventLog, id: WorkflowId): Promise<WorkflowEvent[]> {
  const all: WorkflowEvent[] = [];
  for await (const page of eventPages(events, id)) all.push(...page);
  return all;
}
