import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const APPROVE = { type: 'approve' };
const REJECT = { type: 'reject' };
const results = async (id: string) =>
  (await rig.messages(id)).flatMap((message) => (message.role === 'tool' ? [message.content] : []));

/** What a model, or a person, may write that a thread must outlive. */
describe('P77 a thread goes on after', () => {
  test('arguments that are nested without end', async () => {
    const deep = `{"n":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    rig.llm.on('deep', [{ calls: [{ name: 'note', args: deep }] }, 'Done.', 'Hello.']);
    const { status, body } = await rig.chat('deep');
    expect([status, body.answer]).toEqual([200, 'Done.']);
    expect(await results(body.thread_id)).toEqual([
      'Error: invalid arguments for note. args: Nested deeper than 100 levels',
    ]);
    expect((await rig.chat('again', body.thread_id)).body.answer).toBe('Hello.');
  }, 60_000);

  test('a number that no JSON value can hold', async () => {
    rig.llm.on('huge', [{ calls: [{ name: 'note', args: '{"n":1e400}' }] }, 'Done.']);
    const { status, body } = await rig.chat('huge');
    expect([status, body.answer]).toEqual([200, 'Done.']);
    expect(await results(body.thread_id)).toEqual([
      'Error: invalid arguments for note. args: A number is out of range; write it as text',
    ]);
  });

  test('a name of a field that is no well-formed text', async () => {
    rig.llm.on('half', [{ calls: [{ name: 'note', args: { n: 1 } }] }, 'Done.']);
    const { id } = await rig.waiting('half');
    const edit = { type: 'edit', edited_action: { name: 'note', args: { n: 1, '\ud800': 2 } } };
    const { status, body } = await rig.review(id, [edit]);
    expect([status, body.answer]).toEqual([200, 'Done.']);
    expect(await results(id)).toEqual(['Error: invalid arguments for note. \ufffd: Unrecognized field']);
  });
});

test.each([
  ['-1e400', 'finite_number', 'Input should be a finite number', null],
  [
    '12345678901234567890',
    'int_parsing_size',
    'Input should be an integer of at most 2^53 - 1; write a longer one as a string',
    12345678901234567000,
  ],
])(
  'an edit with %s, which would run as another number, is 422, and the review stays',
  async (text, type, msg, input) => {
    const first = `edit ${type}`;
    rig.llm.on(first, [{ calls: [{ name: 'note', args: { n: 3 } }] }, 'Done.']);
    const { id } = await rig.waiting(first);
    const edit = `{"type":"edit","edited_action":{"name":"note","args":{"n":[1,${text}]}}}`;
    expect(await rig.post('/hitl/review', `{"thread_id":"${id}","decisions":[${edit}]}`)).toMatchObject({
      status: 422,
      body: {
        detail: [{ type, loc: ['body', 'decisions', 0, 'edited_action', 'args', 'n', 1], msg, input }],
      },
    });
    expect((await rig.review(id, [APPROVE])).body.answer).toBe('Done.');
  },
);

test('a message of which nothing is left once it is cleaned is blank', async () => {
  expect(await rig.chat('\u0000\u200b')).toMatchObject({
    status: 400,
    body: { detail: 'Message tidak boleh kosong' },
  });
});

test('P38 a review can be answered however full its thread is', async () => {
  const message = 'a'.repeat(60 * 1024);
  const mail = { to: 'full@example.com', subject: 's', body: 'b'.repeat(60 * 1024) };
  const big = { calls: Array.from({ length: 4 }, () => ({ name: 'send_email', args: mail })) };
  rig.llm.on(message, (_messages, turn) => (turn === 7 ? big : turn > 7 ? 'Done.' : 'b'.repeat(30 * 1024)));
  const id = 'full-of-mail';
  let last = await rig.chat(message, id);
  for (let turn = 1; turn <= 7; turn += 1) last = await rig.chat(message, id);
  expect(last.body.pending_review?.action_requests).toHaveLength(4);
  const full = {
    status: 400,
    body: { detail: 'Percakapan ini sudah mencapai batas 1 MiB. Mulai percakapan baru.' },
  };
  // Words of a person count; those who add none are always heard.
  const reason = { type: 'reject', message: 'c'.repeat(60 * 1024) };
  expect(await rig.review(id, [reason, reason, REJECT, REJECT])).toMatchObject(full);
  expect(await rig.review(id, [APPROVE, REJECT, APPROVE, REJECT])).toMatchObject({
    status: 200,
    body: { answer: 'Done.' },
  });
  expect(await rig.mails('full@example.com')).toHaveLength(2);
}, 60_000);
