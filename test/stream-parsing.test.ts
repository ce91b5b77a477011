import { CONNECTED, encodeEvent, encodeGap, PING, RETRY } from '@plangate/events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStreamParser } from '../packages/events/test/event-stream-parser.ts';
import { type Frame, frameReader } from './support/sse.ts';

/** Cuts bytes into pieces at the given places. */
function pieces(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, at) => bytes.subarray(from, places[at]));
}

function framesOf(parts: Iterable<Uint8Array>): Frame[] {
  const frames: Frame[] = [];
  const reader = frameReader((frame) => frames.push(frame));
  for (const part of parts) reader.feed(part);
  return frames;
}

const TEXTS = [
  '日本語の計画',
  '👨‍👩‍👧‍👦',
  'e\u0301',
  '\u202eabc',
  'data: x',
  ': no comment',
  '\u2028\u0085',
  '\ufeff',
  ' leading',
];
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 30 }));
const cuts = fc.array(fc.nat(), { maxLength: 40 });

describe('P45 a client reads the same events however the bytes are cut', () => {
  test('what the gateway sends: at any place, inside characters too', () => {
    const event = fc.record({
      message: text,
      agent_id: text,
      payload: fc.dictionary(text, text, { maxKeys: 2 }),
    });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), cuts, fc.boolean(), (events, at, gap) => {
        const sent = events.map((more, n) => ({
          workflow_id: 'task-1',
          type: 'PROGRESS' as const,
          timestamp: '2026-01-02T03:04:05.678Z',
          ...more,
          seq: n + 1,
          stream_id: `5-${n + 1}`,
        }));
        const missed = gap ? encodeGap({ requested: 1, earliest: 3, latest: 4 }) : '';
        const bytes = Buffer.from(CONNECTED('task-1') + missed + sent.map(encodeEvent).join(PING) + RETRY);
        const frames = framesOf(pieces(bytes, at));
        expect(frames).toEqual(framesOf([bytes]));
        expect(framesOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(frames);
        const told = frames.filter(({ event: name }) => name !== 'gap');
        expect(told.map(({ id }) => id)).toEqual(sent.map(({ stream_id }) => stream_id));
        expect(told.map(({ data }) => JSON.parse(data).message)).toEqual(
          sent.map(({ message }) => message.toWellFormed()),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('any stream by the letter of the specification: CR, LF, CRLF, comments, fields without a value, a byte order mark', () => {
    const line = fc.oneof(
      fc.tuple(fc.constantFrom('data', 'event', 'id', 'retry', 'other', ''), text).map(([name, value]) => {
        const oneLine = value.replace(/[\r\n\0]/g, '').toWellFormed();
        return name === 'retry' ? 'retry: 2000' : `${name}: ${oneLine}`;
      }),
      fc.constantFrom('data', 'data:', 'data:x', 'id', 'event', ':', '', '', ''),
    );
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }),
        cuts,
        fc.boolean(),
        (lines, at, mark) => {
          const stream = lines.map(([content, end]) => content + end).join('');
          const bytes = Buffer.from((mark ? '\ufeff' : '') + stream);
          const whole = framesOf([bytes]);
          expect(framesOf(pieces(bytes, at))).toEqual(whole);
          expect(framesOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('the specification, read by its letter, gives the same events', () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 8 }),
        cuts,
        fc.constantFrom('\n', '\r', '\r\n'),
        (texts, at, end) => {
          const clean = texts.map((value) => value.replace(/[\r\n\0\ufeff]/g, '').toWellFormed());
          const bytes = Buffer.from(
            clean.map((value, n) => `id: ${n}${end}event: e${n}${end}data: ${value}${end}${end}`).join(''),
          );
          const parser = new EventStreamParser();
          for (const piece of pieces(bytes, at)) parser.feed(piece);
          // What comes after a CR at the very end cannot be known yet, so the last event may still be on its way.
          const frames = framesOf(pieces(Buffer.concat([bytes, Buffer.from(': end\n')]), at));
          expect(frames.map(({ id, event, data }) => ({ id, name: event, data }))).toEqual(parser.events);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('P45 a client that keeps what it has by id sees nothing twice when a server repeats three events', () => {
    const event = (n: number) =>
      encodeEvent({
        workflow_id: 'task-1',
        type: 'PROGRESS',
        agent_id: 'agent',
        message: `event ${n}`,
        timestamp: '2026-01-02T03:04:05.678Z',
        seq: n,
        stream_id: `5-${n}`,
      });
    const connections = [
      [1, 2, 3, 4, 5],
      [3, 4, 5, 6],
      [4, 5, 6, 7, 8],
    ].map((seqs) => seqs.map(event).join(''));
    const seen = new Map<string, string>();
    for (const bytes of connections) {
      for (const frame of framesOf([Buffer.from(bytes)])) seen.set(frame.id ?? '', frame.data);
    }
    expect([...seen.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `5-${n}`));
  });
});
