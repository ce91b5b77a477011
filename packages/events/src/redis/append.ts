import { readFileSync } from 'node:fs';
import type { EventType } from '@plangate/contracts';
import { defineScript } from '@plangate/redis';
import { boundedJson } from '../bounded.ts';
import type { KeyedEvent } from '../keyed-event.ts';

/**
 * Text that defines `append_events(stream, meta, channel, keep, events_json)`, `check_log(stream, meta)` and
 * `check_type(key, type)`; a script that appends starts with it.
 */
export const APPEND_LUA = readFileSync(new URL('./append.lua', import.meta.url), 'utf8');

/** The `append_events` call as a script of its own: KEYS stream, meta; ARGV channel, keep, events_json. */
export const appendScript = defineScript(
  'append_events',
  `${APPEND_LUA}\ncheck_log(KEYS[1], KEYS[2])\nreturn append_events(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), ARGV[3])`,
);

/** The `events_json` argument of `append_events`; every event is bounded to `MAX_EVENT_BYTES`. */
export function encodeAppend(events: KeyedEvent[]): string {
  return JSON.stringify(
    events.map(({ key, ...event }) => ({
      k: key ?? '',
      e: boundedJson(event),
      ...(event.type === 'STREAM_END' ? { z: true } : {}),
    })),
  );
}

/** Steps of the work itself: many per task, and none is written while a review is open. */
const WORK_TYPES: ReadonlySet<EventType> = new Set([
  'DELEGATION',
  'AGENT_STARTED',
  'TOOL_INVOKED',
  'TOOL_OBSERVATION',
  'AGENT_COMPLETED',
  'PROGRESS',
  'LLM_PARTIAL',
  'LLM_OUTPUT',
] satisfies EventType[]);

/**
 * True when an append of `events` may trim the log. Review events must stay while the review is open
 * (`contract/plan-review.md` §3), and people may edit or extend without limit. So only the steps of the work
 * trim: they come after the review is closed. Commits of a review pass keep = 0 for the same reason.
 */
export function mayTrim(events: KeyedEvent[]): boolean {
  return events.some((event) => WORK_TYPES.has(event.type));
}
