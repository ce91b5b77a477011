import { slotOf, type WorkflowId } from '@plangate/contracts';

/** The Redis names of one workflow's event log. */
export interface EventKeys {
  /** Stream of the events, ids `<ms>-<seq>`. */
  stream: string;
  /** Hash: `seq` and `ms` of the newest event, `end` once the log is closed, `k:<append key>` per keyed append. */
  meta: string;
  /** Pub/sub channel that is told the newest seq after an append. */
  channel: string;
}

/** Names of the keys of `workflowId`'s log, all in the slot of the workflow (the channel included). */
export function eventKeys(workflowId: WorkflowId): EventKeys {
  const stream = `events:${slotOf(workflowId)}`;
  return { stream, meta: `${stream}:meta`, channel: stream };
}
