import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { partsThatOnly } from './parts.ts';

let server: Server;
let url: string;
const looked: string[] = [];

/** Every look at a thread is noted: a body that does not fit must come before it. */
beforeAll(async () => {
  const look = async (workflowId: string) => {
    looked.push(workflowId);
    return null;
  };
  server = createServer(createApp(partsThatOnly(look)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  return { status: response.status, body: (await response.json()) as any, headers: response.headers };
}

const OK = { thread_id: 't', decisions: [{ type: 'approve' }] };
const CHAT = '/hitl/chat';
const REVIEW = '/hitl/review';
const OBJECT = 'Input should be a valid dictionary or object to extract fields from';
const STRING = 'Input should be a valid string';
const TYPE = {
  msg: "Input should be 'approve', 'edit' or 'reject'",
  ctx: { expected: "'approve', 'edit' or 'reject'" },
};
const decide = (decision: unknown) => ({ thread_id: 't', decisions: [decision] });
const edit = (edited_action: unknown) => decide({ type: 'edit', edited_action });

describe('a body that does not fit is 422 with exactly the item of the contract, before any look at the thread', () => {
  test.each<[string, string, unknown, object[]]>([
    [
      'an absent field',
      CHAT,
      { thread_id: 't' },
      [{ type: 'missing', loc: ['body', 'message'], msg: 'Field required', input: { thread_id: 't' } }],
    ],
    [
      'an empty message',
      CHAT,
      { message: '' },
      [
        {
          type: 'string_too_short',
          loc: ['body', 'message'],
          msg: 'String should have at least 1 character',
          input: '',
          ctx: { min_length: 1 },
        },
      ],
    ],
    [
      'a message that is no string',
      CHAT,
      { message: 5 },
      [{ type: 'string_type', loc: ['body', 'message'], msg: STRING, input: 5 }],
    ],
    [
      'a message that is null',
      CHAT,
      { message: null },
      [{ type: 'string_type', loc: ['body', 'message'], msg: STRING, input: null }],
    ],
    [
      'a thread_id that is no string',
      CHAT,
      { message: 'm', thread_id: 5 },
      [{ type: 'string_type', loc: ['body', 'thread_id'], msg: STRING, input: 5 }],
    ],
    [
      'a thread_id that is too long',
      CHAT,
      { message: 'm', thread_id: '😀'.repeat(257) },
      [
        {
          type: 'string_too_long',
          loc: ['body', 'thread_id'],
          msg: 'String should have at most 256 characters',
          input: '😀'.repeat(257),
          ctx: { max_length: 256 },
        },
      ],
    ],
    [
      'a thread_id of null on review',
      REVIEW,
      { ...OK, thread_id: null },
      [{ type: 'string_type', loc: ['body', 'thread_id'], msg: STRING, input: null }],
    ],
    [
      'no decisions',
      REVIEW,
      { ...OK, decisions: [] },
      [
        {
          type: 'too_short',
          loc: ['body', 'decisions'],
          msg: 'List should have at least 1 item after validation, not 0',
          input: [],
          ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
        },
      ],
    ],
    [
      'decisions that are no list',
      REVIEW,
      { ...OK, decisions: { 0: 1 } },
      [
        {
          type: 'list_type',
          loc: ['body', 'decisions'],
          msg: 'Input should be a valid list',
          input: { 0: 1 },
        },
      ],
    ],
    [
      'a decision that is no object',
      REVIEW,
      decide('approve'),
      [{ type: 'model_attributes_type', loc: ['body', 'decisions', 0], msg: OBJECT, input: 'approve' }],
    ],
    [
      'a decision that is a list',
      REVIEW,
      decide([]),
      [{ type: 'model_attributes_type', loc: ['body', 'decisions', 0], msg: OBJECT, input: [] }],
    ],
    [
      'a wrong type',
      REVIEW,
      decide({ type: 'Approve' }),
      [{ type: 'literal_error', loc: ['body', 'decisions', 0, 'type'], ...TYPE, input: 'Approve' }],
    ],
    [
      'a type of null',
      REVIEW,
      decide({ type: null }),
      [{ type: 'literal_error', loc: ['body', 'decisions', 0, 'type'], ...TYPE, input: null }],
    ],
    [
      'a type that is an object',
      REVIEW,
      decide({ type: { toString: 'approve' } }),
      [
        {
          type: 'literal_error',
          loc: ['body', 'decisions', 0, 'type'],
          ...TYPE,
          input: { toString: 'approve' },
        },
      ],
    ],
    [
      'no type',
      REVIEW,
      decide({}),
      [{ type: 'missing', loc: ['body', 'decisions', 0, 'type'], msg: 'Field required', input: {} }],
    ],
    [
      'an edited_action without both',
      REVIEW,
      edit({}),
      [
        {
          type: 'missing',
          loc: ['body', 'decisions', 0, 'edited_action', 'name'],
          msg: 'Field required',
          input: {},
        },
        {
          type: 'missing',
          loc: ['body', 'decisions', 0, 'edited_action', 'args'],
          msg: 'Field required',
          input: {},
        },
      ],
    ],
    [
      'args that are no object',
      REVIEW,
      edit({ name: 'n', args: [] }),
      [
        {
          type: 'dict_type',
          loc: ['body', 'decisions', 0, 'edited_action', 'args'],
          msg: 'Input should be a valid dictionary',
          input: [],
        },
      ],
    ],
    [
      'an edited_action that is no object',
      REVIEW,
      edit('x'),
      [
        {
          type: 'model_attributes_type',
          loc: ['body', 'decisions', 0, 'edited_action'],
          msg: OBJECT,
          input: 'x',
        },
      ],
    ],
    [
      'a malformed edited_action on an approve',
      REVIEW,
      decide({ type: 'approve', edited_action: { name: 1 } }),
      [
        {
          type: 'string_type',
          loc: ['body', 'decisions', 0, 'edited_action', 'name'],
          msg: STRING,
          input: 1,
        },
        {
          type: 'missing',
          loc: ['body', 'decisions', 0, 'edited_action', 'args'],
          msg: 'Field required',
          input: { name: 1 },
        },
      ],
    ],
    [
      'a message that is no string on an approve',
      REVIEW,
      decide({ type: 'approve', message: 5 }),
      [{ type: 'string_type', loc: ['body', 'decisions', 0, 'message'], msg: STRING, input: 5 }],
    ],
    [
      'a review_id that is no string',
      REVIEW,
      { ...OK, review_id: 5 },
      [{ type: 'string_type', loc: ['body', 'review_id'], msg: STRING, input: 5 }],
    ],
    [
      'every fault of a body',
      REVIEW,
      { decisions: [{ type: 'x', message: 1 }, null, { type: 'edit', edited_action: { args: 1 } }] },
      [
        expect.objectContaining({ type: 'missing', loc: ['body', 'thread_id'] }),
        expect.objectContaining({ type: 'literal_error', loc: ['body', 'decisions', 0, 'type'] }),
        expect.objectContaining({ type: 'string_type', loc: ['body', 'decisions', 0, 'message'] }),
        expect.objectContaining({ type: 'model_attributes_type', loc: ['body', 'decisions', 1] }),
        expect.objectContaining({ type: 'missing', loc: ['body', 'decisions', 2, 'edited_action', 'name'] }),
        expect.objectContaining({
          type: 'dict_type',
          loc: ['body', 'decisions', 2, 'edited_action', 'args'],
        }),
      ],
    ],
    ...['[]', '5', '"x"', 'null', 'true'].map((text): [string, string, unknown, object[]] => [
      `a body of ${text}`,
      CHAT,
      text,
      [{ type: 'model_attributes_type', loc: ['body'], msg: OBJECT, input: JSON.parse(text) }],
    ]),
  ])('%s', async (_name, path, sent, detail) => {
    looked.length = 0;
    const { status, body } = await post(path, sent);
    expect([status, body]).toEqual([422, { detail }]);
    expect(looked).toEqual([]);
  });

  test.each([
    ['{', 1],
    ['{"message": "a",}', 16],
    ['{"message": }', 12],
    ['{"message" "a"}', 11],
    ['{"message": "a"} x', 17],
    ['{"message": "a', 12],
    ["{'message': 1}", 1],
    ['{"message": NaN}', 12],
    ['{"message": 01}', 13],
    ['// x', 0],
    [' ', 1],
  ])('broken JSON says where: %j at %i', async (text, position) => {
    const { status, body } = await post(CHAT, text);
    expect([status, body]).toEqual([
      422,
      {
        detail: [
          {
            type: 'json_invalid',
            loc: ['body', position],
            msg: 'JSON decode error',
            input: {},
            ctx: { error: expect.stringMatching(/./) },
          },
        ],
      },
    ]);
  });

  test('JSON that is nested too deeply is not walked into', async () => {
    const deep = `{"message": "m", "x": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(await post(CHAT, deep)).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'json_invalid' }] },
    });
  });

  test('no body at all is a missing one', async () => {
    expect((await post(CHAT, '')).body).toEqual({
      detail: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
    });
  });
});

test('unknown fields are ignored, null and "" ask for a new thread', async () => {
  for (const thread_id of [null, '', undefined]) {
    const { status, body } = await post(CHAT, { message: 'm', thread_id, more: 1 });
    expect([status, body]).toEqual([
      200,
      { thread_id: expect.stringMatching(/^[0-9a-f]{32}$/), answer: 'ok', pending_review: null },
    ]);
  }
});

test('a thread belongs to its owner: the workflow is named by a hash of both', async () => {
  const of = async (headers: Record<string, string>) => {
    looked.length = 0;
    await post(CHAT, { message: 'm', thread_id: 'same' }, headers);
    return looked[0];
  };
  const ada = await of({ 'X-User-Id': '00000000-0000-4000-8000-00000000000a' });
  const bob = await of({ 'X-User-Id': '00000000-0000-4000-8000-00000000000b' });
  const hash = createHash('sha256')
    .update(
      JSON.stringify([
        '00000000-0000-0000-0000-000000000001',
        '00000000-0000-4000-8000-00000000000a',
        'same',
      ]),
    )
    .digest('hex');
  expect(ada).toBe(`thread-${hash}`);
  expect(bob).not.toBe(ada);
});

test.each([
  ['a blank message', CHAT, { message: ' \n\u200b' }, 400, 'Message tidak boleh kosong'],
  [
    'a message of more than 64 KiB',
    CHAT,
    { message: 'é'.repeat(32 * 1024 + 1) },
    413,
    'Message is longer than 65536 bytes',
  ],
  ['a body of more than 256 KiB', CHAT, { message: 'a'.repeat(256 * 1024) }, 413, 'Request body too large'],
  [
    'a review of an unknown thread',
    REVIEW,
    OK,
    400,
    'Tidak ada aksi yang menunggu persetujuan di percakapan ini',
  ],
  [
    'a review of the thread ""',
    REVIEW,
    { ...OK, thread_id: '' },
    400,
    'Tidak ada aksi yang menunggu persetujuan di percakapan ini',
  ],
])('%s', async (_name, path, sent, status, detail) => {
  expect(await post(path, sent)).toMatchObject({ status, body: { detail } });
});

test('another type of body is 415, another method 405, another route 404, an unknown thread 404', async () => {
  for (const type of ['text/plain', 'application/json; charset=utf-16', 'application/jsonp']) {
    expect(await post(CHAT, 'm', { 'Content-Type': type }), type).toMatchObject({
      status: 415,
      body: { detail: 'Content-Type must be application/json' },
    });
  }
  const get = async (path: string) => {
    const response = await fetch(url + path);
    return [response.status, await response.json(), response.headers.get('allow')];
  };
  expect(await get(CHAT)).toEqual([405, { detail: 'Method Not Allowed' }, 'POST']);
  expect(await get('/hitl/other')).toEqual([404, { detail: 'Not Found' }, null]);
  expect(await get('/hitl/threads/none')).toEqual([404, { detail: 'Percakapan tidak ditemukan' }, null]);
  expect(await get('/hitl/threads/none/messages')).toEqual([
    404,
    { detail: 'Percakapan tidak ditemukan' },
    null,
  ]);
  expect((await get('/hitl/threads/%ff'))[0]).toBe(400);
});

test('a page of another origin may read the id of a review', async () => {
  const response = await fetch(url + CHAT, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: 'http://localhost:3000' },
    body: '{"message":"m"}',
  });
  expect(response.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
    expect.arrayContaining(['ETag', 'X-Review-Id']),
  );
});
