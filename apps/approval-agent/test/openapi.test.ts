import type { OpenApiDocument } from '@plangate/contracts/openapi';
import { routesOf } from '@plangate/http';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Documented, documented } from '../../../test/support/documented.ts';
import { createApp } from '../src/app.ts';
import { partsThatOnly } from './parts.ts';
import { type Answer, type Rig, startRig } from './rig.ts';

let rig: Rig;
let document: OpenApiDocument;
let documentation: Documented;
beforeAll(async () => {
  rig = await startRig();
  document = (await rig.get('/openapi.json')).body;
  documentation = documented(document);
});
afterAll(() => rig?.stop());

const CHAT = '/hitl/chat';
const REVIEW = '/hitl/review';
const THREAD = '/hitl/threads/{thread_id}';
const notes = (...ns: number[]) => ({ calls: ns.map((n) => ({ name: 'note', args: { n } })) });

/** What the document has against an answer. */
function against(operation: string, { status, headers, body }: Answer): unknown[] {
  const isJson = headers.get('content-type')?.startsWith('application/json');
  const json = isJson ? body : undefined;
  return documentation.against(operation, {
    status,
    headers: Object.fromEntries(headers),
    text: isJson ? JSON.stringify(body) : String(body),
    json,
  });
}

describe('the document', () => {
  test('has every route that the router has, and no other', () => {
    expect(documentation.operations.toSorted()).toEqual(
      routesOf(createApp(partsThatOnly(async () => null))).toSorted(),
    );
    expect(documentation.operations).toContain(`POST ${REVIEW}`);
  });

  test('is valid OpenAPI 3.1, and speaks of the agent alone', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone({ ...document }))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(Object.keys(document.components['schemas'] ?? {})).not.toContain('ReviewBody');
    expect(Object.keys(document.components['securitySchemes'] ?? {})).toEqual(['apiKey', 'bearer']);
  });
});

type Ask = () => Promise<Answer>;
async function sent(path: string, body: unknown): Promise<Answer> {
  expect(documentation.againstRequest(`POST ${path}`, body)).toEqual([]);
  return rig.post(path, body);
}
async function waiting(first: string): Promise<string> {
  rig.llm.on(first, [notes(1, 2), 'Done.']);
  return (await rig.waiting(first)).id;
}

/** What is asked to see each of the answers that the document promises. */
const ANSWERS: Record<string, Ask[]> = {
  [`POST ${CHAT} 200`]: [
    () => sent(CHAT, { message: 'Hello', thread_id: null }),
    () => {
      rig.llm.on('stops', [notes(1)]);
      return sent(CHAT, { message: 'stops', thread_id: 'stops' });
    },
  ],
  [`POST ${REVIEW} 200`]: [
    async () => {
      const edited_action = { name: 'note', args: { n: 3 } };
      const decisions = [
        { type: 'edit', edited_action },
        { type: 'reject', message: 'no' },
      ];
      return sent(REVIEW, { thread_id: await waiting('decided'), decisions });
    },
  ],
  [`GET ${THREAD} 200`]: [async () => rig.get(`/hitl/threads/${await waiting('seen')}`)],
  [`GET ${THREAD}/messages 200`]: [
    async () => {
      rig.llm.on('broken', [{ calls: [{ name: 'note', args: '{' }] }, 'Sorry.']);
      const { body } = await rig.chat('broken');
      return rig.get(`/hitl/threads/${body.thread_id}/messages`);
    },
  ],
  'GET /health 200': [() => rig.get('/health')],
  'GET /readiness 200': [() => rig.get('/readiness')],
  'GET /openapi.json 200': [() => rig.get('/openapi.json')],
};

describe('answers of the agent', () => {
  test('are all that the document promises', () => {
    // The rig reads every body as JSON.
    const promised = documentation.answers.filter((answer) => answer !== 'GET /metrics 200');
    expect(Object.keys(ANSWERS).toSorted()).toEqual(promised.toSorted());
  });

  test.each(Object.entries(ANSWERS))(
    '%s: status, headers and every field are as documented',
    async (name, asks) => {
      const operation = name.slice(0, name.lastIndexOf(' '));
      for (const ask of asks) {
        const answer = await ask();
        expect(`${operation} ${answer.status}`).toBe(name);
        expect(against(operation, answer)).toEqual([]);
      }
    },
  );

  test('errors are as documented', async () => {
    const id = await waiting('with errors');
    const decisions = [{ type: 'approve' }];
    const errors: [string, number, Ask][] = [
      [`POST ${CHAT}`, 400, () => rig.chat(' ')],
      [`POST ${CHAT}`, 413, () => rig.chat('x'.repeat(70_000))],
      [`POST ${CHAT}`, 415, () => rig.post(CHAT, {}, { 'Content-Type': 'text/plain' })],
      [`POST ${CHAT}`, 422, () => rig.post(CHAT, { message: 7, thread_id: 8 })],
      [`POST ${REVIEW}`, 400, () => rig.review(id, decisions)],
      [`POST ${REVIEW}`, 412, () => rig.review(id, decisions, { 'If-Match': '"other"' })],
      [`POST ${REVIEW}`, 422, () => rig.review(id, [{ type: 'aprove' }])],
      [`GET ${THREAD}`, 404, () => rig.get('/hitl/threads/unknown')],
      [`GET ${THREAD}/messages`, 404, () => rig.get('/hitl/threads/unknown/messages')],
    ];
    for (const [operation, status, ask] of errors) {
      const answer = await ask();
      expect([operation, answer.status]).toEqual([operation, status]);
      expect(against(operation, answer)).toEqual([]);
    }
  });
});

test.each<[string, unknown]>([
  [CHAT, {}],
  [CHAT, { message: '' }],
  [CHAT, { message: 'x', thread_id: 'x'.repeat(257) }],
  [REVIEW, { thread_id: 't', decisions: [] }],
  [REVIEW, { thread_id: 't', decisions: [{ type: 'respond' }] }],
  [REVIEW, { thread_id: 't', decisions: [{ type: 'edit', edited_action: { name: 'note', args: [] } }] }],
])('%s: the document and the agent refuse the same body (case %#)', async (path, body) => {
  expect(documentation.againstRequest(`POST ${path}`, body)).not.toEqual([]);
  expect((await rig.post(path, body)).status).toBe(422);
});
