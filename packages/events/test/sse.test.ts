import { EVENT_TYPES, type EventType, type WorkflowEvent } from '@plangate/contracts';
import { CONNECTED, encodeEvent, encodeGap, PING, parseCursor, RETRY, typeFilter } from '@plangate/events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStreamParser } from './event-stream-parser.ts';

const base: WorkflowEvent = {
  workflow_id: 'task-1',
  type: 'PROGRESS',
  agent_id: 'researcher',
  message: 'half done',
  payload: { done: 1, total: 2 },
  timestamp: '2026-01-02T03:04:05.678Z',
  seq: 7,
  stream_id: '1767323045678-7',
};
const { type: _, message: __, ...envelope } = base;

function parse(text: string) {
  const parser = new EventStreamParser();
  parser.feed(Buffer.from(text));
  return parser.events;
}

describe('encodeEvent', () => {
  const renamed: Partial<Record<EventType, [name: string, data: unknown]>> = {
    LLM_PARTIAL: [
      'thread.message.delta',
      {
        delta: 'half done',
        workflow_id: 'task-1',
        agent_id: 'researcher',
        payload: base.payload,
        seq: 7,
        stream_id: base.stream_id,
      },
    ],
    LLM_OUTPUT: ['thread.message.completed', { response: 'half done', ...envelope }],
    WORKFLOW_PAUSING: ['workflow.pausing', { ...base, type: 'workflow.pausing' }],
    WORKFLOW_PAUSED: ['workflow.paused', { ...base, type: 'workflow.paused' }],
    WORKFLOW_RESUMED: ['workflow.resumed', { ...base, type: 'workflow.resumed' }],
    WORKFLOW_CANCELLING: ['workflow.cancelling', { ...base, type: 'workflow.cancelling' }],
    WORKFLOW_CANCELLED: ['workflow.cancelled', { ...base, type: 'workflow.cancelled' }],
  };

  test.each(EVENT_TYPES.filter((type) => type !== 'STREAM_END'))('%s has its name and its JSON', (type) => {
    const [name, data] = renamed[type] ?? [type, { ...base, type }];
    const [event, ...more] = parse(encodeEvent({ ...base, type }));
    expect(more).toEqual([]);
    expect(event).toMatchObject({ id: base.stream_id, name });
    expect(JSON.parse(event!.data)).toEqual(data);
  });

  test('STREAM_END is done with [DONE] and an id', () => {
    expect(encodeEvent({ ...base, type: 'STREAM_END' })).toBe(
      `id: ${base.stream_id}\nevent: done\ndata: [DONE]\n\n`,
    );
  });

  test.each([
    'x\r\n\r\nevent: done\r\ndata: [DONE]\r\n\r\n',
    'x\n\nevent: RESEARCH_PLAN_APPROVED\ndata: {}\n\n',
    'x\rid: 9-9\r\r',
    'x\u2028event: done\u2029\u0085data: y\v\f\u001e',
    '\u0000\u0007\ufeff',
  ])('text cannot end its frame: %j', (text) => {
    const frame = encodeEvent({ ...base, agent_id: text, message: text, payload: { [text]: text } });
    expect(frame.split(/[\r\n\v\f\u001c-\u001e\u0085\u2028\u2029]/)).toHaveLength(5);
    const [event, ...more] = parse(frame);
    expect(more).toEqual([]);
    expect(JSON.parse(event!.data)).toMatchObject({ message: text, payload: { [text]: text } });
  });

  test.each(['1-1\n', '1-1\r', '1\0-1', '1-1\n\nevent: done\ndata: [DONE]'])(
    'an id that holds a line end or NUL is refused: %j',
    (stream_id) => {
      expect(() => encodeEvent({ ...base, stream_id })).toThrow('not a field');
      expect(() => CONNECTED(stream_id)).toThrow('not a field');
    },
  );

  test('a name that holds a line end is refused', () => {
    expect(() => encodeEvent({ ...base, type: 'X\ndata: y' as EventType })).toThrow('not a field');
  });

  test('lone surrogates become U+FFFD, escaped text and whole pairs stay', () => {
    const message = 'a\ud800b \\ud800 \\\\ud800 \udc00 😀';
    const [event] = parse(encodeEvent({ ...base, message }));
    expect(JSON.parse(event!.data).message).toBe(message.toWellFormed());
  });
});

test('the greeting, the ping and the retry dispatch no event; a gap has no id', () => {
  expect(CONNECTED('task-1')).toBe(': connected to workflow task-1\nretry: 2000\n\n');
  expect(parse(CONNECTED('task-1') + PING + RETRY)).toEqual([]);
  const gap = { requested: '1-1', earliest: '3-3', latest: '4-4' };
  const frame = encodeGap(gap);
  expect(frame).not.toContain('id:');
  expect(parse(encodeEvent(base) + frame)[1]).toEqual({
    id: base.stream_id,
    name: 'gap',
    data: JSON.stringify(gap),
  });
});

test('frames fed byte by byte to a parser of the specification give the same events', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const event = fc.record({
    type: fc.constantFrom(...EVENT_TYPES.filter((type) => type !== 'STREAM_END')),
    agent_id: text,
    message: fc.oneof(text, fc.constantFrom('\r\n\r\nevent: x', '\u2028', '👨‍👩‍👧‍👦', 'data: y\n\n')),
    payload: fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), fc.boolean(), (events, withPings) => {
      const sent = events.map((more, n) => ({ ...base, ...more, seq: n + 1, stream_id: `5-${n + 1}` }));
      const bytes = Buffer.from(
        CONNECTED('task-1') + sent.map(encodeEvent).join(withPings ? PING : '') + RETRY,
      );
      const parser = new EventStreamParser();
      for (const byte of bytes) parser.feed(Buffer.of(byte));
      expect(parser.retryMs).toBe(2_000);
      expect(parser.events.map(({ id }) => id)).toEqual(sent.map((one) => one.stream_id));
      for (const [index, one] of sent.entries()) {
        const data = JSON.parse(parser.events[index]!.data);
        expect(data.message ?? data.response ?? data.delta).toBe(one.message.toWellFormed());
        expect(data.payload).toEqual(JSON.parse(JSON.stringify(one.payload)));
      }
    }),
  );
});

describe('typeFilter', () => {
  const passes = (query: string) => EVENT_TYPES.filter((type) => typeFilter(query)({ type }));

  test.each([
    ['RESEARCH_PLAN_READY', ['RESEARCH_PLAN_READY', 'STREAM_END']],
    ['workflow.paused', ['WORKFLOW_PAUSED', 'STREAM_END']],
    ['WORKFLOW_PAUSED', ['WORKFLOW_PAUSED', 'STREAM_END']],
    ['thread.message.completed, thread.message.delta', ['LLM_PARTIAL', 'LLM_OUTPUT', 'STREAM_END']],
    ['LLM_OUTPUT,llm_partial,', ['LLM_PARTIAL', 'LLM_OUTPUT', 'STREAM_END']],
    ['done', ['STREAM_END']],
    ['NO_SUCH_TYPE', ['STREAM_END']],
  ])('%s lets these through: %j', (query, types) => {
    expect(passes(query)).toEqual(types);
  });

  test.each(['', ' , '])('%j names none and lets all through', (query) => {
    expect(passes(query)).toEqual([...EVENT_TYPES]);
  });
});

describe('parseCursor', () => {
  test('reads a stream id and a seq', () => {
    const text = '1767323045678-7';
    expect(parseCursor(text)).toEqual({ kind: 'id', ms: 1_767_323_045_678, n: 7, text });
    expect(parseCursor('12')).toEqual({ kind: 'seq', seq: 12 });
  });

  test.each(['', ' 1', '1 ', '-1', '1-', '1-2-3', '$', '+', '1.5', '0x1', '１', '1\n', '9'.repeat(16)])(
    '%j is malformed',
    (text) => {
      expect(parseCursor(text)).toBeNull();
    },
  );
});
