import type { NewEvent } from '@plangate/contracts';

/** An event to append; with `key` it is appended at most once per workflow, however often it is tried. */
export type KeyedEvent = NewEvent & { key?: string };
