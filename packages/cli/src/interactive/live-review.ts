import type { Plangate, StreamEvent } from '@plangate/sdk';

/** Events after which what a person sees of a review is out of date. */
const CHANGES = new Set([
  'RESEARCH_PLAN_UPDATED',
  'RESEARCH_PLAN_EDITED',
  'RESEARCH_PLAN_APPROVED',
  'RESEARCH_PLAN_REJECTED',
  'REVIEW_EXTENDED',
  'REVIEW_TIMED_OUT',
  'REVIEW_CANCELLED',
]);
const WATCHED = [
  ...CHANGES,
  'REVIEW_REMINDER',
  'workflow.cancelled',
  'WORKFLOW_FAILED',
  'WORKFLOW_COMPLETED',
];

/** Follows a review in the background while a person reads and decides. */
export interface LiveReview {
  /**
   * A signal that is aborted when the review is no longer at `version`, or its task has ended; its reason is the
   * event. Already aborted where that has happened before.
   */
  changedSince(version: number): AbortSignal;
  close(): void;
}

/** @param onFault told when the events cannot be followed; the review goes on without them */
export function followReview(plangate: Plangate, id: string, onFault: (error: unknown) => void): LiveReview {
  const closing = new AbortController();
  let latest: StreamEvent | undefined;
  let watcher: { version: number; controller: AbortController } | undefined;

  const tell = () => {
    if (watcher && latest && isNewer(latest, watcher.version)) watcher.controller.abort(latest);
  };
  const reading = async () => {
    for await (const event of plangate.events.stream(id, { signal: closing.signal, types: WATCHED })) {
      if (event.event === 'REVIEW_REMINDER') continue;
      latest = event;
      tell();
    }
  };
  reading().catch((error: unknown) => {
    if (!closing.signal.aborted) onFault(error);
  });

  return {
    changedSince(version) {
      watcher = { version, controller: new AbortController() };
      tell();
      return watcher.controller.signal;
    },
    close: () => closing.abort(),
  };
}

/** Ends of the task carry no version: they always are. */
function isNewer({ event, data }: StreamEvent, version: number): boolean {
  if (event === 'gap') return false;
  if (!CHANGES.has(event)) return true;
  const of = data.payload?.['version'];
  return typeof of === 'number' && of > version;
}
