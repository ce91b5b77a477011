import { MAX_EVENT_BYTES, type NewEvent, utf8Bytes } from '@plangate/contracts';
import { toJsonLine } from './json.ts';

/** Room for what the log adds on the wire: workflow id (128 at most), time, seq and stream id with their names. */
const ENVELOPE_BYTES = 384;
const STORED_BYTES = MAX_EVENT_BYTES - ENVELOPE_BYTES;
const AGENT_ID_BYTES = 256;
const LONGEST_PAYLOAD_STRING = 16 * 1024;
const SHORTEST_PAYLOAD_STRING = 32;

/**
 * The event as JSON, small enough that what clients get is at most `MAX_EVENT_BYTES`
 * (`contract/plan-review.md` §3). One that is larger loses the end of its message, and of the strings of its
 * payload where that is too large by itself, between two graphemes, and is marked `payload.truncated: true`.
 */
export function boundedJson(event: NewEvent): string {
  if (event.message.length <= STORED_BYTES) {
    const json = toJsonLine(event);
    if (utf8Bytes(json) <= STORED_BYTES) return json;
  }

  const frame = {
    type: event.type,
    agent_id: cutToJsonBytes(event.agent_id, AGENT_ID_BYTES),
    message: '',
    payload: { truncated: true },
  };
  const free = STORED_BYTES - utf8Bytes(toJsonLine(frame));
  const message = event.message.toWellFormed();
  const payload = boundedPayload(event.payload, Math.max(free / 2, free - jsonBytesUpTo(message, free)));
  const rest = STORED_BYTES - utf8Bytes(toJsonLine({ ...frame, payload }));
  return toJsonLine({ ...frame, message: cutToJsonBytes(message, rest), payload });
}

/** `payload` with `truncated: true` in at most `maxBytes` bytes: shorter strings first, then only its plain values. */
function boundedPayload(payload: NewEvent['payload'], maxBytes: number): Record<string, unknown> {
  const plain: Record<string, unknown> = payload ? JSON.parse(toJsonLine(payload)) : {};
  const whole = { ...plain, truncated: true };
  if (fits(whole, maxBytes)) return whole;
  const shortest = withShortStrings(plain, SHORTEST_PAYLOAD_STRING);
  if (fits(shortest, maxBytes)) {
    for (let longest = LONGEST_PAYLOAD_STRING; longest > SHORTEST_PAYLOAD_STRING; longest /= 2) {
      const shorter = withShortStrings(plain, longest);
      if (fits(shorter, maxBytes)) return shorter;
    }
    return shortest;
  }
  const values = Object.entries(shortest).filter(([, value]) => typeof value !== 'object');
  const flat = Object.fromEntries(values);
  return fits(flat, maxBytes) ? flat : { truncated: true };
}

function fits(payload: Record<string, unknown>, maxBytes: number): boolean {
  return utf8Bytes(toJsonLine(payload)) <= maxBytes;
}

function withShortStrings(payload: Record<string, unknown>, longest: number): Record<string, unknown> {
  return { ...(cutStrings(payload, longest) as object), truncated: true };
}

function cutStrings(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return cutToJsonBytes(value, longest);
  if (Array.isArray(value)) return value.map((item) => cutStrings(item, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, longest)]));
}

/** The longest prefix between two graphemes whose JSON form, quotes aside, has at most `maxBytes` bytes. */
function cutToJsonBytes(text: string, maxBytes: number): string {
  if (jsonBytesUpTo(text, maxBytes) <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const { segment, index } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    bytes += jsonBytesUpTo(segment, maxBytes);
    if (bytes > maxBytes) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/**
 * Bytes of `text` inside a JSON string, escapes as they are written; infinite where it is clear without counting
 * that they are more than `maxBytes`, so that megabytes of text cost nothing.
 */
function jsonBytesUpTo(text: string, maxBytes: number): number {
  return text.length > maxBytes ? Number.POSITIVE_INFINITY : utf8Bytes(toJsonLine(text)) - 2;
}
