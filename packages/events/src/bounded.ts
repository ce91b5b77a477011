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
  const json = toJsonLine(event);
  if (utf8Bytes(json) <= STORED_BYTES) return json;

  const frame = {
    type: event.type,
    agent_id: cutToJsonBytes(event.agent_id, AGENT_ID_BYTES),
    message: '',
    payload: { truncated: true },
  };
  const free = STORED_BYTES - utf8Bytes(toJsonLine(frame));
  const message = event.message.toWellFormed();
  const payload = boundedPayload(event.payload, Math.max(free / 2, free - jsonBytes(message)));
  const rest = STORED_BYTES - utf8Bytes(toJsonLine({ ...frame, payload }));
  return toJsonLine({ ...frame, message: cutToJsonBytes(message, rest), payload });
}

/** `payload` with `truncated: true`, at most about `maxBytes` long: shorter strings first, then only its plain values. */
function boundedPayload(payload: NewEvent['payload'], maxBytes: number): Record<string, unknown> {
  const plain: Record<string, unknown> = payload ? JSON.parse(toJsonLine(payload)) : {};
  const whole = { ...plain, truncated: true };
  if (utf8Bytes(toJsonLine(whole)) <= maxBytes) return whole;
  for (let longest = LONGEST_PAYLOAD_STRING; longest >= SHORTEST_PAYLOAD_STRING; longest /= 2) {
    const shorter = { ...(cutStrings(plain, longest) as object), truncated: true };
    if (utf8Bytes(toJsonLine(shorter)) <= maxBytes) return shorter;
  }
  const values = Object.entries(plain).filter(([, value]) => typeof value !== 'object');
  const flat = {
    ...(cutStrings(Object.fromEntries(values), SHORTEST_PAYLOAD_STRING) as object),
    truncated: true,
  };
  return utf8Bytes(toJsonLine(flat)) <= maxBytes ? flat : { truncated: true };
}

function cutStrings(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return cutToJsonBytes(value, longest);
  if (Array.isArray(value)) return value.map((item) => cutStrings(item, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, longest)]));
}

/** The longest prefix between two graphemes whose JSON form, quotes aside, has at most `maxBytes` bytes. */
function cutToJsonBytes(text: string, maxBytes: number): string {
  if (jsonBytes(text) <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const { segment, index } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    bytes += jsonBytes(segment);
    if (bytes > maxBytes) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** Bytes of `text` inside a JSON string: escapes count as they are written. */
function jsonBytes(text: string): number {
  return utf8Bytes(toJsonLine(text)) - 2;
}
