import type { EventLog } from '@plangate/events/redis';
import type { Source } from '@plangate/research';
import type { ReviewStore } from '@plangate/review/redis';
import type { LlmClient, Logger } from '@plangate/service';
import type { DraftStore, FindingStore, TaskStore } from '@plangate/tasks/redis';

/** What the activities work with. */
export interface Parts {
  log: Logger;
  reviews: ReviewStore;
  tasks: TaskStore;
  drafts: DraftStore;
  findings: FindingStore;
  events: EventLog;
  llm: LlmClient;
  source: Source;
  /** Seconds for which the events of an ended task are kept. */
  keepEventsSeconds: number;
}
