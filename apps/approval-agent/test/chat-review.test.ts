import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

interface Case {
  decisions: unknown;
  status: number;
  detail?: string;
  runs?: number;
  tool_result?: string;
  tool_result_names?: string[];
}
const { cases } = JSON.parse(
  readFileSync(new URL('./fixtures/tool-approval-requests.json', import.meta.url), 'utf8'),
) as { cases: Case[] };

const APPROVE = { type: 'approve' };
const REJECT = { type: 'reject' };
const email = (to: string, body = 'The meeting is at 10.') => ({ to, subject: 'Meeting', body });
let threads = 0;

/** A thread whose model wants to send e-mails to these addresses, all at once. */
async function withEmails(...to: string[]) {
  threads += 1;
  const first = `thread ${threads}`;
  rig.llm.on(first, [
    { calls: to.map((address) => ({ name: 'send_email', args: email(address) })) },
    'Done.',
  ]);
  const thread = await rig.waiting(first);
  return { ...thread, first };
}

/** A decision list as it goes over the wire: `__proto__` is a member like any other. */
function wire(threadId: string, decisions: unknown): string {
  return JSON.stringify({ thread_id: threadId, decisions });
}

describe('each request on a review of two e-mails', () => {
  test.each(cases.map((row, index) => ({ ...row, index })))('$index: $decisions -> $status', async (row) => {
    const one = `one-${row.index}@example.com`;
    const two = `two-${row.index}@example.com`;
    const { id, first } = await withEmails(one, two);
    const runs = async () =>
      (await rig.mails()).filter(({ to }) => to === one || to === two || to === 'a@example.com');
    const before = (await runs()).length;
    const weather = () =>
      rig.llm
        .asked(first)
        .at(-1)
        ?.messages.filter((m) => m.role === 'tool' && m.name === 'get_weather');

    const { status, body } = await rig.post('/hitl/review', wire(id, row.decisions));

    expect(status).toBe(row.status);
    if (row.status === 200) {
      expect(body).toEqual({ thread_id: id, answer: 'Done.', pending_review: null });
      expect((await runs()).length - before + (weather()?.length ?? 0)).toBe(row.runs);
      const results = (await rig.messages(id)).filter((message) => message.role === 'tool');
      expect(results).toHaveLength(2);
      if (row.tool_result) {
        // The case knows the demo's tools; this agent has two more.
        const text = row.tool_result.replace("'get_weather', ", "'get_weather', 'look', 'note', ");
        expect(results.map(({ content }) => content)).toContain(text);
      }
      if (row.tool_result_names) {
        const fault = results.find(({ content }) => content.startsWith('Error: invalid arguments'));
        expect(fault?.status).toBe('error');
        for (const name of row.tool_result_names) expect(fault?.content).toContain(`${name}: `);
      }
      return;
    }
    if (row.detail) expect(body).toEqual({ detail: row.detail });
    else expect(Array.isArray(body.detail)).toBe(true);
    // H09: nothing has changed, and the right answer works and runs exactly once.
    expect((await runs()).length).toBe(before);
    expect((await rig.review(id, [APPROVE, APPROVE])).body).toEqual({
      thread_id: id,
      answer: 'Done.',
      pending_review: null,
    });
    expect((await runs()).map(({ to }) => to).sort()).toEqual(expect.arrayContaining([one, two]));
    expect((await runs()).length - before).toBe(2);
  });
});

test('a new thread has an id of 128 random bits, and an answer has exactly three keys', async () => {
  rig.llm.on('hello', ['Hi!']);
  const { status, body, headers } = await rig.chat('hello');
  expect([status, body]).toEqual([
    200,
    { thread_id: expect.stringMatching(/^[0-9a-f]{32}$/), answer: 'Hi!', pending_review: null },
  ]);
  expect(headers.get('x-review-id')).toBeNull();
});

test('the payload of a review is exactly the one of the format', async () => {
  rig.llm.on('payload', [
    {
      calls: [
        { name: 'get_weather', args: { location: 'Jakarta' } },
        { name: 'send_email', args: email('payload@example.com') },
      ],
    },
    'Done.',
  ]);
  const { id, reviewId, body } = await rig.waiting('payload');
  expect(body).toEqual({
    thread_id: id,
    answer: null,
    pending_review: {
      action_requests: [
        {
          name: 'send_email',
          args: email('payload@example.com'),
          description: 'Tool `send_email` menunggu persetujuan',
        },
      ],
      review_configs: [{ action_name: 'send_email', allowed_decisions: ['approve', 'edit', 'reject'] }],
    },
  });
  expect(reviewId).not.toBe('');
  // H14: a page that is loaded again finds it.
  const again = await rig.get(`/hitl/threads/${id}`);
  expect([again.status, again.body, again.headers.get('x-review-id'), again.headers.get('etag')]).toEqual([
    200,
    body,
    reviewId,
    `"${reviewId}"`,
  ]);
  // The free sibling runs although the gated call is rejected.
  expect((await rig.review(id, [REJECT])).status).toBe(200);
  const results = (await rig.messages(id)).filter((message) => message.role === 'tool');
  expect(results.map(({ name, status }) => [name, status]).sort()).toEqual([
    ['get_weather', 'success'],
    ['send_email', 'error'],
  ]);
});

describe('decisions', () => {
  test('H04 P66 an edit stands in the history and in what the model sees next, and no copy of the old one is left', async () => {
    const { id, first } = await withEmails('edit@example.com');
    const args = email('edit@example.com', 'The meeting is at 11.');
    await rig.review(id, [{ type: 'edit', edited_action: { name: 'send_email', args } }]);
    expect(await rig.mails('edit@example.com')).toMatchObject([{ text: 'The meeting is at 11.' }]);
    await rig.keepHistory('edited', id);
    const seen = JSON.stringify([rig.llm.asked(first).at(-1), await rig.messages(id)]);
    expect(seen).toContain('The meeting is at 11.');
    expect(seen).not.toContain('at 10.');
  });

  test('H06 P84 the exact reason of a rejection reaches the model, a blank one counts as none', async () => {
    const { id, first } = await withEmails('r1@example.com', 'r2@example.com', 'r3@example.com');
    await rig.review(id, [
      { ...REJECT, message: 'Wrong\n "recipient".' },
      { ...REJECT, message: ' ' },
      REJECT,
    ]);
    const results = rig.llm
      .asked(first)
      .at(-1)!
      .messages.filter((m) => m.role === 'tool');
    const none = 'User rejected this action. It was not executed.';
    expect(results.map(({ content }) => content)).toEqual(['Wrong\n "recipient".', none, none]);
    expect(await rig.mails('r1@example.com')).toEqual([]);
  });

  test('H01 H02 P65 decisions pair by place, also for repeated and missing ids of calls', async () => {
    rig.llm.on('pairs', [
      {
        calls: [
          { id: 'x', name: 'note', args: { n: 101 } },
          { id: 'x', name: 'note', args: { n: 102 } },
          { id: '', name: 'note', args: { n: 103 } },
        ],
      },
      'Done.',
    ]);
    const { id } = await rig.waiting('pairs');
    await rig.review(id, [REJECT, APPROVE, REJECT]);
    expect(rig.tool.calls.filter((n) => n > 100 && n < 104)).toEqual([102]);
    await rig.keepHistory('approved-and-rejected', id);
    const messages = rig.llm.asked('pairs').at(-1)!.messages;
    const calls = messages.flatMap((m) => (m.role === 'assistant' ? m.tool_calls.map(({ id }) => id) : []));
    const answered = messages.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : []));
    expect(new Set(calls).size).toBe(3);
    expect([...answered].sort()).toEqual([...calls].sort());
  });

  test('H07 P58 a review that was answered takes no second answer', async () => {
    const { id } = await withEmails('once@example.com');
    await rig.review(id, [APPROVE]);
    expect(await rig.review(id, [APPROVE])).toMatchObject({
      status: 400,
      body: { detail: 'Tidak ada aksi yang menunggu persetujuan di percakapan ini' },
    });
    expect(await rig.mails('once@example.com')).toHaveLength(1);
  });

  test('H10 a message on a waiting thread is refused, and the review stays', async () => {
    const { id, body } = await withEmails('stay@example.com');
    expect(await rig.chat('And now?', id)).toMatchObject({
      status: 400,
      body: { detail: 'Masih ada aksi yang menunggu persetujuan. Kirim keputusannya dulu.' },
    });
    expect((await rig.get(`/hitl/threads/${id}`)).body).toEqual(body);
    expect(await rig.chat(' \u200b\n', id)).toMatchObject({
      status: 400,
      body: { detail: 'Message tidak boleh kosong' },
    });
  });

  test('H13 three reviews in a row are each shown, under a new id', async () => {
    const calls = (n: number) => ({ calls: [{ name: 'note', args: { n } }] });
    rig.llm.on('row', [calls(201), calls(202), calls(203), 'Done.']);
    const { id, reviewId } = await rig.waiting('row');
    const second = await rig.review(id, [APPROVE]);
    const third = await rig.review(id, [REJECT]);
    const shown = [second, third].map(({ body }) => body.pending_review.action_requests[0].args.n);
    expect(shown).toEqual([202, 203]);
    const ids = [reviewId, second.headers.get('x-review-id'), third.headers.get('x-review-id')];
    expect(new Set(ids).size).toBe(3);
    expect((await rig.review(id, [APPROVE])).body.answer).toBe('Done.');
    expect(rig.tool.calls.filter((n) => n > 200 && n < 204)).toEqual([201, 203]);
    await rig.keepHistory('three-reviews', id);
  });

  test('P67 an edit to another tool of the agent runs that one', async () => {
    const { id, first } = await withEmails('other@example.com');
    await rig.review(id, [{ type: 'edit', edited_action: { name: 'note', args: { n: 301 } } }]);
    expect(rig.tool.calls).toContain(301);
    expect(await rig.mails('other@example.com')).toEqual([]);
    expect(JSON.stringify(rig.llm.asked(first).at(-1)!.messages)).toContain('done 301');
  });

  test('P77 arguments that are no JSON, or do not fit, never come before a person', async () => {
    rig.llm.on('broken', [
      { calls: [{ name: 'send_email', args: '{"to":' }] },
      { calls: [{ name: 'note', args: { n: 'x' } }] },
      'Done.',
    ]);
    const { body } = await rig.chat('broken');
    const shown = body.pending_review?.action_requests ?? [];
    expect(JSON.stringify(shown)).not.toContain('{"to":');
    const results = rig.llm.asked('broken')[1]!.messages.filter((m) => m.role === 'tool');
    expect(results).toMatchObject([
      { status: 'error', content: expect.stringMatching(/^Error: invalid arguments for send_email\. /) },
    ]);
  });

  test('P69 a model that asks for ever is ended by the step limit', async () => {
    rig.llm.on('forever', (_messages, turn) => ({ calls: [{ name: 'look', args: { n: 401 + turn } }] }));
    const { status, body } = await rig.chat('forever');
    expect([status, body.answer]).toEqual([
      200,
      'Maaf, saya butuh lebih banyak langkah untuk menyelesaikan permintaan ini.',
    ]);
    // Steps 1, 4, 7 … 22: at 22 three are left, and the model is not obeyed any more.
    await rig.keepHistory('step-limit', body.thread_id);
    expect(rig.tool.calls.filter((call) => call > 400 && call < 500)).toHaveLength(7);
  });
});

describe('a review is answered by the one who saw it', () => {
  test('If-Match and review_id of another review are 412, and nothing is applied', async () => {
    const { id, reviewId } = await withEmails('match@example.com');
    const stale = { status: 412, body: { detail: 'Review ini sudah tidak berlaku' } };
    for (const tag of ['"other"', 'other', '"a", "b"', `W/"${reviewId}"`, '']) {
      expect(await rig.review(id, [APPROVE], { 'If-Match': tag }), tag).toMatchObject(stale);
    }
    const body = { thread_id: id, decisions: [APPROVE], review_id: 'other' };
    expect(await rig.post('/hitl/review', body)).toMatchObject(stale);
    expect(await rig.mails('match@example.com')).toEqual([]);
    const right = { ...body, review_id: reviewId };
    expect((await rig.post('/hitl/review', right, { 'If-Match': `"x", "${reviewId}"` })).status).toBe(200);
    expect(await rig.mails('match@example.com')).toHaveLength(1);
  });

  test('H08 P78 fifty answers at once run the tool once; the others are refused, none with 500', async () => {
    const { id } = await withEmails('fifty@example.com');
    const answers = await Promise.all(Array.from({ length: 50 }, () => rig.review(id, [APPROVE])));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => ![200, 400, 409, 412].includes(status))).toEqual([]);
    for (const { status, body } of answers) {
      if (status === 409) expect(body).toEqual({ detail: 'Keputusan lain sedang diproses' });
    }
    expect(await rig.mails('fifty@example.com')).toHaveLength(1);
  });

  test('a late double click never answers the next review', async () => {
    const calls = (n: number) => ({ calls: [{ name: 'note', args: { n } }] });
    rig.llm.on('late', [calls(501), calls(502), 'Done.']);
    const { id } = await rig.waiting('late');
    const both = await Promise.all([rig.review(id, [APPROVE]), rig.review(id, [APPROVE])]);
    const answered = both.filter(({ status }) => status === 200);
    // The second click may come after the next review was shown only when it was sent after that.
    expect(answered.length).toBe(1);
    expect(rig.tool.calls.filter((n) => n > 500 && n < 503)).toEqual([501]);
  });
});
