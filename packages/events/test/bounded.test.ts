import { MAX_EVENT_BYTES, type NewEvent, utf8Bytes, type WorkflowEvent } from '@plangate/contracts';
import { encodeEvent } from '@plangate/events';
import { encodeAppend } from '@plangate/events/redis';
import { describe, expect, test } from 'vitest';

const FAMILY = '👨‍👩‍👧‍👦';
const event: NewEvent = { type: 'LLM_OUTPUT', agent_id: 'final_output', message: '' };

/** What a client gets of `event`, in the envelope with the longest values. */
function sent(given: NewEvent): { wire: WorkflowEvent; bytes: number } {
  const [entry] = JSON.parse(encodeAppend([given])) as { e: string }[];
  const wire = {
    workflow_id: 'x'.repeat(128),
    ...(JSON.parse(entry!.e) as NewEvent),
    timestamp: '2026-01-02T03:04:05.678Z',
    seq: 999_999_999_999,
    stream_id: '1767323045678-999999999999',
  };
  const [, , data] = encodeEvent(wire).split('\n');
  return { wire, bytes: utf8Bytes(data!.slice('data: '.length)) };
}

describe('P32 an event is bounded', () => {
  test('one that fits is not touched', () => {
    const given = { ...event, message: 'a'.repeat(60_000), payload: { citations: 3 } };
    expect(sent(given).wire).toMatchObject(given);
    expect(sent(given).wire.payload).not.toHaveProperty('truncated');
  });

  test.each([
    ['letters', 'a'],
    ['line ends, two bytes each in JSON', '\n'],
    ['quotes and backslashes', '"\\'],
    ['line separators, escaped', '\u2028'],
    ['control characters', '\u0001'],
    ['Japanese', '計画を確認する。'],
    ['lone surrogates', '\ud800'],
    ['emoji families', FAMILY],
  ])('5 MB of %s are cut near the limit and marked', (_, unit) => {
    const message = unit.repeat(5_000_000 / unit.length);
    const { wire, bytes } = sent({ ...event, message, payload: { citations: 3 } });
    expect(bytes).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(bytes).toBeGreaterThan(MAX_EVENT_BYTES - 1_024);
    expect(wire.payload).toEqual({ citations: 3, truncated: true });
    expect(message.toWellFormed().startsWith(wire.message)).toBe(true);
  });

  test('a family is never cut apart, whatever its offset to the limit', () => {
    for (let offset = 0; offset <= 30; offset += 1) {
      const { wire } = sent({ ...event, message: 'a'.repeat(offset) + FAMILY.repeat(4_000) });
      const families = wire.message.slice(offset);
      expect(families).toBe(FAMILY.repeat(families.length / FAMILY.length));
    }
  });

  test('one grapheme that is larger than the limit leaves nothing of it', () => {
    expect(sent({ ...event, message: `e${'\u0301'.repeat(100_000)}` }).wire.message).toBe('');
  });

  test('a payload of 1 MB loses the ends of its long strings, not its other values', () => {
    const payload = {
      tool: 'search',
      ok: true,
      n: 4,
      result: { text: FAMILY.repeat(40_000), list: ['short'] },
    };
    const { wire, bytes } = sent({ ...event, message: 'found', payload });
    expect(bytes).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(wire.message).toBe('found');
    const result = (wire.payload as typeof payload).result;
    expect(wire.payload).toMatchObject({ tool: 'search', ok: true, n: 4, truncated: true });
    expect(result.list).toEqual(['short']);
    expect(result.text).toBe(FAMILY.repeat(result.text.length / FAMILY.length));
    expect(result.text.length).toBeGreaterThan(1_000);
  });

  test('message and payload that are both too large share the room', () => {
    const long = 'b'.repeat(1_000_000);
    const { wire, bytes } = sent({ ...event, message: long, payload: { long } });
    expect(bytes).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(wire.message.length).toBeGreaterThan(30_000);
    expect(String(wire.payload!['long']).length).toBeGreaterThan(15_000);
  });

  test('a payload of very many values keeps its plain ones, or only the mark', () => {
    const rows = Array.from({ length: 100_000 }, (_, n) => n);
    expect(sent({ ...event, payload: { version: 3, rows } }).wire.payload).toEqual({
      version: 3,
      truncated: true,
    });
    const wide = Object.fromEntries(rows.map((n) => [`k${n}`, n]));
    expect(sent({ ...event, payload: wide }).wire.payload).toEqual({ truncated: true });
  });

  test('an agent id is bounded too', () => {
    const { wire, bytes } = sent({ ...event, agent_id: 'a'.repeat(1_000_000) });
    expect(bytes).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(wire.agent_id).toBe('a'.repeat(256));
  });
});
