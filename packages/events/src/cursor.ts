/** Where a reader stands in a log; it wants what comes strictly after. */
export type Cursor =
  | { kind: 'start' }
  /** After the event with this stream id, `<ms>-<n>`; n is the seq for ids that the log gave. */
  | { kind: 'id'; ms: number; n: number; text: string }
  /** After the event with this number. */
  | { kind: 'seq'; seq: number };

/** What a log holds now. */
export interface Bounds {
  earliestSeq: number;
  earliestId: string;
  latestSeq: number;
  latestId: string;
}

/** Data of the `gap` event: what was asked for and what is there, as numbers for a seq, as stream ids for an id. */
export type Gap =
  | { requested: number; earliest: number; latest: number }
  | { requested: string; earliest: string; latest: string };

const CURSOR = /^([0-9]{1,15})(?:-([0-9]{1,15}))?$/;

/** Reads a `last_event_id`: a stream id or a seq (`contract/plan-review.md` §3); null where it is neither. */
export function parseCursor(text: string): Cursor | null {
  const match = CURSOR.exec(text);
  if (!match) return null;
  const [, first, second] = match;
  if (second === undefined) return { kind: 'seq', seq: Number(first) };
  return { kind: 'id', ms: Number(first), n: Number(second), text };
}

/** The cursor after the event with this stream id, which must be one. */
export function cursorAfter(streamId: string): Cursor & { kind: 'id' } {
  const cursor = parseCursor(streamId);
  if (cursor?.kind !== 'id') throw new Error(`not a stream id: ${JSON.stringify(streamId)}`);
  return cursor;
}

/** Negative, zero or positive as `a` comes before, is, or comes after `b` on the stream. */
export function comparePositions(a: { ms: number; n: number }, b: { ms: number; n: number }): number {
  return a.ms - b.ms || a.n - b.n;
}

/**
 * What a reader at `cursor` has missed, or null when nothing that it wants is trimmed
 * (`contract/plan-review.md` §3): the earliest kept seq is beyond cursor + 1, or the cursor's id is trimmed. The
 * start counts as seq 0.
 */
export function gapFor(cursor: Cursor, bounds: Bounds | null): Gap | null {
  if (!bounds || bounds.earliestSeq === 1) return null;
  if (cursor.kind === 'id') {
    if (comparePositions(cursor, cursorAfter(bounds.earliestId)) >= 0) return null;
    return { requested: cursor.text, earliest: bounds.earliestId, latest: bounds.latestId };
  }
  const seq = cursor.kind === 'start' ? 0 : cursor.seq;
  if (bounds.earliestSeq <= seq + 1) return null;
  return { requested: seq, earliest: bounds.earliestSeq, latest: bounds.latestSeq };
}
