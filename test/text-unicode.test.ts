import { createHash } from 'node:crypto';
import { cleanText } from '@plangate/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStream } from '../apps/gateway/test/raw-stream.ts';
import { type Rig, startRig, until } from '../apps/gateway/test/rig.ts';

const FAMILY = '👨‍👩‍👧‍👦';
const NFC = 'caf\u00e9 がく 각';
const NFD = NFC.normalize('NFD');

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const path = (id: string, suffix = '') => `/api/v1/tasks/${id}/review${suffix}`;
/** JSON as any client may write it: `JSON.stringify` keeps lone surrogates as escapes. */
const act = (id: string, body: Record<string, unknown>) => rig.post(path(id), body);
const eventsOf = async (id: string) => (await rig.ask(`/api/v1/tasks/${id}/timeline`)).json.events;

/** Texts as they are sent and as they are kept (design rule 10). */
const TEXTS: [name: string, sent: string, kept: string][] = [
  ['a lone high surrogate', 'a\ud800b', 'a\ufffdb'],
  ['a lone low surrogate', 'a\udc00b', 'a\ufffdb'],
  ['surrogates in the wrong order', 'a\udc00\ud800b', 'a\ufffd\ufffdb'],
  ['NUL', 'a\u0000b', 'ab'],
  ['C0 and C1 controls', 'a\u0001\u001b[31m\u007f\u0085\u009fb', 'a[31mb'],
  ['CRLF and CR', 'a\r\nb\rc\n', 'a\nb\nc\n'],
  ['tab and LF', 'a\tb\nc', 'a\tb\nc'],
  ['an RTL override', 'approve\u202eevorppa\u202c', 'approve\u202eevorppa\u202c'],
  ['bidi isolates', '\u2067שלום\u2069 and \u2066x\u2069', '\u2067שלום\u2069 and \u2066x\u2069'],
  ['joiners, selectors, a byte order mark', `\ufeff${FAMILY}\ufe0f\u200b.`, `\ufeff${FAMILY}\ufe0f\u200b.`],
  ['line separators', 'a\u2028b\u2029c', 'a\u2028b\u2029c'],
  ['NFC', NFC, NFC],
  ['NFD', NFD, NFD],
  ['characters beyond the first plane', '𠮷野家 𝔓𝔩𝔞𝔫 🏴󠁧󠁢󠁳󠁣󠁴󠁿', '𠮷野家 𝔓𝔩𝔞𝔫 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
];

describe('what is sent is kept, told and hashed as the same text', () => {
  test.each(TEXTS)('an edited plan with %s', async (_name, sent, kept) => {
    const id = await rig.review();
    const { status, json } = await act(id, { action: 'edit', plan: sent });
    expect([status, json.current_plan, json.plan_sha256]).toEqual([200, kept, sha256(kept)]);
    expect((await rig.ask(path(id))).json.current_plan).toBe(kept);
    const { versions } = (await rig.ask(path(id, '/versions'))).json;
    expect(versions.at(-1)).toMatchObject({ text: kept, sha256: sha256(kept) });
    expect((await eventsOf(id)).at(-1)).toMatchObject({ type: 'RESEARCH_PLAN_EDITED', message: kept });
    const { changes } = (await rig.ask(path(id, '/diff?from=1&to=2'))).json;
    expect(joined(changes, 'delete')).toBe('First plan');
    expect(joined(changes, 'insert')).toBe(kept);
  });

  test.each(TEXTS)(
    'a feedback, its answer and the reason of a rejection with %s',
    async (_name, sent, kept) => {
      const id = await rig.review();
      rig.llm.reply = () => ({ message: sent });
      const { status, json } = await act(id, { action: 'feedback', message: sent });
      rig.llm.reply = ({ current_round }) => ({ message: `Plan of round ${current_round}` });
      expect([status, json.plan.message, json.current_plan]).toEqual([200, kept, kept]);
      expect(json.rounds.map(({ message }: { message: string }) => message)).toEqual([
        'First plan',
        kept,
        kept,
      ]);
      expect(rig.llm.requests.at(-1)?.conversation.at(-1)?.message).toBe(kept);
      await act(id, { action: 'reject', reason: sent });
      expect((await rig.ask(path(id))).json.decision.reason).toBe(kept);
      const told = (await eventsOf(id)).slice(1);
      expect(told.map(({ message }: { message: string }) => message).slice(0, 2)).toEqual([kept, kept]);
    },
  );

  test.each(TEXTS)('the stream carries %s', async (_name, sent, kept) => {
    const id = await rig.review();
    await act(id, { action: 'edit', plan: sent });
    const stream = openStream(rig.port, `/api/v1/stream/sse?workflow_id=${id}`, { key: rig.keys.alice });
    await until(() => stream.frames().length === 2);
    expect(JSON.parse(stream.frames()[1]?.data ?? '').message).toBe(kept);
    stream.close();
  });
});

/** The texts that stand on one side of a diff. */
function joined(changes: { op: string; text: string }[], side: 'insert' | 'delete'): string {
  return changes
    .filter(({ op }) => op === 'equal' || op === side)
    .map(({ text }) => text)
    .join('');
}

test('a family cut at every index: each half is well-formed text, and the plan that was approved is the one that is hashed', async () => {
  for (let at = 0; at <= FAMILY.length; at += 1) {
    const id = await rig.review();
    const sent = `a${FAMILY.slice(0, at)}`;
    const { json } = await act(id, { action: 'edit', plan: sent });
    expect(json.current_plan).toBe(cleanText(sent));
    expect(json.current_plan.isWellFormed()).toBe(true);
    await act(id, { action: 'edit', plan: `${FAMILY.slice(at)}b` });
    await act(id, { action: 'approve' });
    const review = (await rig.ask(path(id))).json;
    expect([review.status, review.plan_sha256]).toEqual(['approved', sha256(review.current_plan)]);
    const { changes } = (await rig.ask(path(id, '/diff?from=2&to=3'))).json;
    expect(joined(changes, 'delete')).toBe(cleanText(sent));
    expect(joined(changes, 'insert')).toBe(review.current_plan);
  }
});

test('NFC and NFD of one text are two plans: neither is normalised, and their hashes differ', async () => {
  expect(NFC).not.toBe(NFD);
  const id = await rig.review();
  const first = (await act(id, { action: 'edit', plan: NFC })).json;
  const second = (await act(id, { action: 'edit', plan: NFD })).json;
  expect([first.current_plan, second.current_plan]).toEqual([NFC, NFD]);
  expect(first.plan_sha256).toBe(sha256(NFC));
  expect(second.plan_sha256).toBe(sha256(NFD));
  expect(second.version).toBe(3);
});

test('P32 an event that is too long is cut between graphemes wherever the limit falls', async () => {
  const { task_id: id } = await rig.task();
  for (let shift = 0; shift < 26; shift += 1) {
    const message = 'x'.repeat(shift) + FAMILY.repeat(3_000);
    await rig.events.append(id, [{ type: 'PROGRESS', agent_id: 'agent', message }]);
  }
  const events = await rig.events.read(id, { limit: 100 });
  expect(events).toHaveLength(26);
  for (const [shift, { message, payload }] of events.entries()) {
    expect(payload).toEqual({ truncated: true });
    const families = (message.length - shift) / FAMILY.length;
    expect(message).toBe('x'.repeat(shift) + FAMILY.repeat(families));
    expect(families).toBeGreaterThan(2_000);
  }
});

test('P32 a tool result of 1 MB is told in an event of at most 64 KiB, and the stream goes on', async () => {
  const { task_id: id } = await rig.task();
  const result = `${'結果'.repeat(80_000)}${'x'.repeat(520_000)}`;
  const note = { agent_id: 'agent', message: 'Found' };
  await rig.events.append(id, [
    { ...note, type: 'TOOL_OBSERVATION', payload: { searches: 2, result, passages: [{ text: result }] } },
    { ...note, type: 'PROGRESS' },
  ]);
  const stream = openStream(rig.port, `/api/v1/stream/sse?workflow_id=${id}`, { key: rig.keys.alice });
  await until(() => stream.frames().length === 2);
  const [observation] = stream.frames();
  expect(Buffer.byteLength(observation?.data ?? '')).toBeLessThanOrEqual(64 * 1_024);
  const { message, payload } = JSON.parse(observation?.data ?? '');
  expect([message, payload.searches, payload.truncated]).toEqual(['Found', 2, true]);
  expect(result.startsWith(payload.result)).toBe(true);
  stream.close();
});

test('text without anything to see is no message and no plan, one with a mark is', async () => {
  const id = await rig.review();
  for (const blank of ['\u3000', '\u200b\u200d', '\u0000\u0007', '\ufeff\n', '\u3164', '\u00ad\u2060']) {
    expect((await act(id, { action: 'feedback', message: blank })).json.error).toBe(
      'message is required for feedback',
    );
    expect((await act(id, { action: 'edit', plan: blank })).json.error).toBe('plan is required for edit');
  }
  expect((await act(id, { action: 'edit', plan: '\u0301' })).status).toBe(200);
});
