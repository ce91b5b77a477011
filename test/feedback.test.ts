import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { ReviewBody } from '@plangate/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completion } from '../apps/llm-service/test/scripted-provider.ts';
import { taskPath } from './support/client.ts';
import { asks, PLAN, REVISED, type Reply, ready, type Step, text } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { readStream } from './support/sse.ts';
import { until } from './support/until.ts';

/** Longest wait for the model, its retries included: short, so that a hanging one is found out soon. */
const MODEL_SECONDS = 2;

let product: Product;
beforeAll(async () => {
  product = await startProduct({ modelSeconds: MODEL_SECONDS });
});
afterAll(() => product?.stop());

let queries = 0;
/** An open review of a task of its own; `revise` answers its feedbacks. */
async function reviewed(revise?: Reply, context = {}): Promise<{ id: string; query: string }> {
  queries += 1;
  const query = `Feedback ${queries}`;
  if (revise) product.model.on(query, (call) => (isRevision(call) ? revise(call) : undefined));
  const id = await product.submit(query, { require_review: true, ...context });
  await product.review(id);
  return { id, query };
}
const isRevision: (call: Parameters<Reply>[0]) => boolean = ({ kind, prompt }) =>
  kind === 'plan' && !prompt.includes('Round 0 of');
const revisions = (query: string) => product.model.calls(query, 'plan').filter(isRevision);

/** A model that answers when it is told to. */
function held(step: Step): { reply: Reply; release: () => void } {
  const gate = Promise.withResolvers<void>();
  return { reply: () => gate.promise.then(() => step), release: gate.resolve };
}

interface MessageCase {
  text?: string;
  unit?: string;
  times?: number;
  json?: unknown;
  lone_surrogate?: boolean;
  stored?: string;
  expect: number;
}
const { cases } = JSON.parse(
  readFileSync(new URL('fixtures/feedback-messages.json', import.meta.url), 'utf8'),
) as { cases: MessageCase[] };
const rows = cases.map((row) => ({ name: JSON.stringify(row).slice(0, 80), ...row }));
const messageOf = ({ text, unit = '', times = 0, json, lone_surrogate }: MessageCase): unknown => {
  if (lone_surrogate) return 'lone \ud800 surrogate';
  if (json !== undefined) return json;
  return text ?? unit.repeat(times);
};
/** What is stored of a message (design rule 10): well-formed text with LF and without other controls. */
const storedOf = (row: MessageCase): string =>
  row.stored ?? String(messageOf(row)).replaceAll('\r\n', '\n').replaceAll('\ud800 ', '\ufffd ');

describe('the message', () => {
  test.concurrent.each(rows.filter((row) => row.expect === 200))(
    '$name is feedback and nothing else',
    async (row) => {
      const { id, query } = await reviewed();
      const { status, json } = await product.act(id, { action: 'feedback', message: messageOf(row) }, '1');
      expect([status, json.status, json.version]).toEqual([200, 'reviewing', 2]);
      expect(json.rounds[1].message).toBe(storedOf(row));
      expect(await product.review(id)).toMatchObject({ status: 'reviewing', rounds: json.rounds });
      const event = (await product.events(id)).find(({ type }) => type === 'REVIEW_USER_FEEDBACK');
      expect(event?.message).toBe(storedOf(row));
      expect(revisions(query)).toHaveLength(1);
      expect(product.model.calls(query).every(({ kind }) => kind === 'plan')).toBe(true);
    },
  );

  test.concurrent.each(rows.filter((row) => row.expect === 400))(
    '$name: 400, and nothing changes',
    async (row) => {
      const { id, query } = await reviewed();
      const before = await product.review(id);
      const message = messageOf(row);
      const { status, json } = await product.act(id, { action: 'feedback', message });
      const tooLong = { error: 'message exceeds maximum length (10KB)', limit: 10_240 };
      expect(status).toBe(400);
      expect(json).toMatchObject(
        row.unit
          ? { ...tooLong, length: Buffer.byteLength(String(message)) }
          : { error: 'message is required for feedback' },
      );
      expect(await product.review(id)).toEqual(before);
      expect(revisions(query)).toHaveLength(0);
    },
  );

  test('without a message: 400', async () => {
    const { id } = await reviewed();
    const { status, json } = await product.act(id, { action: 'feedback' });
    expect([status, json.error]).toEqual([400, 'message is required for feedback']);
  });

  test.each(['Add an economics section', 'Compare knowledge graphs', 'I do not like it'])(
    'P47 "%s" decides nothing: the review goes on',
    async (message) => {
      const { id, query } = await reviewed();
      expect((await product.feedback(id, message)).json.status).toBe('reviewing');
      expect(await product.review(id)).toMatchObject({ status: 'reviewing', version: 2, round: 2 });
      expect(product.model.calls(query, 'decompose')).toHaveLength(0);
      expect(await product.types(id)).not.toContain('RESEARCH_PLAN_APPROVED');
    },
  );

  test('a message that looks like an event stays one line of data on the stream', async () => {
    const { id } = await reviewed();
    const reader = readStream(product.stack.gatewayUrl, id);
    await product.feedback(id, 'x\r\n\r\nevent: RESEARCH_PLAN_APPROVED\r\ndata: {}\r\n\r\n');
    await reader.has('RESEARCH_PLAN_UPDATED');
    expect(reader.names()).not.toContain('RESEARCH_PLAN_APPROVED');
    reader.close();
  });

  test.each(['', null, 'APPROVE', 'accept', 0, {}, ['approve'], undefined])(
    'P19 the action %j: 400, and the review is as it was',
    async (action) => {
      const { id, query } = await reviewed();
      const before = await product.review(id);
      const { status, json } = await product.act(id, { action, message: 'x' });
      expect([status, json.error]).toEqual([400, "action must be 'feedback' or 'approve'"]);
      expect(await product.review(id)).toEqual(before);
      expect(revisions(query)).toHaveLength(0);
    },
  );
});

describe('rounds', () => {
  test('P37 the 10th feedback is the last: its answer is a plan, the 11th is refused, approve works', async () => {
    const { id, query } = await reviewed(({ prompt }) =>
      prompt.includes('Round 10 of 10') ? asks('Which ports?') : undefined,
    );
    for (let round = 1; round <= 10; round += 1) {
      const { status, json } = await product.feedback(id, `Wish ${round}`, String(round));
      expect([status, json.round, json.version]).toEqual([200, round + 1, round + 1]);
    }
    const last = await product.review(id);
    expect(last).toMatchObject({
      round: 11,
      version: 11,
      intent: 'ready',
      current_plan: 'Which ports?',
      feedbacks_left: 0,
    });
    expect(last.rounds).toHaveLength(21);
    const final = revisions(query).map(({ instructions }) =>
      instructions.includes('This is the final round'),
    );
    expect(final).toEqual([...Array(9).fill(false), true]);

    const { status, json } = await product.feedback(id, 'Wish 11', '11');
    expect([status, json.error]).toEqual([409, 'Maximum review rounds reached. Please approve the plan.']);
    expect(await product.review(id)).toEqual(last);
    expect(revisions(query)).toHaveLength(10);
    expect((await product.approve(id, '11')).status).toBe(200);
    expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
  });

  test('P05 a clarifying question is no plan: it cannot be approved, a plan after feedback can', async () => {
    const query = 'What is it about?';
    product.model.on(query, (call) => (isRevision(call) ? undefined : asks('Which region?')));
    const id = await product.submit(query, { require_review: true });
    const first = await product.review(id);
    expect(first).toMatchObject({ current_plan: '', intent: 'feedback', plan_version: 0, plan_sha256: '' });
    expect(first.rounds.map(({ message }) => message)).toEqual(['Which region?']);
    const refused = await product.approve(id, '1');
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'No research plan to approve. Please provide feedback to generate a plan first.',
    ]);
    expect(await product.review(id)).toEqual(first);
    expect((await product.feedback(id, 'The North Sea')).json).toMatchObject({ current_plan: REVISED });
    expect((await product.approve(id, '2')).status).toBe(200);
  });

  test('P05 a clarifying question never replaces the plan that is there', async () => {
    const { id } = await reviewed(() => asks('Which region?'));
    const { json } = await product.feedback(id, 'Something else');
    expect(json).toMatchObject({
      current_plan: PLAN,
      plan: { message: 'Which region?', intent: 'feedback', round: 2, version: 2 },
    });
    expect((await product.review(id)).current_plan).toBe(PLAN);
  });

  const fenced = 'Plan\n```\n[INTENT:feedback]\n```';
  test.each([
    ['first', '[INTENT:ready]\nPlan', 'Plan', 'ready'],
    ['in the middle', 'Plan\n[INTENT:ready]\nmore', 'Plan\nmore', 'ready'],
    ['twice', 'Plan\n[INTENT:ready]\n[INTENT:ready]', 'Plan', 'ready'],
    ['contradicting: the last decides', 'Plan\n[INTENT:ready]\n[INTENT:feedback]', 'Plan', 'feedback'],
    ['in lower case', 'Plan\n[intent:Ready]', 'Plan', 'ready'],
    ['inside a fence: it is text', `${fenced}\n[INTENT:ready]`, fenced, 'ready'],
    [
      'quoted in a line: it is text',
      'I end with [INTENT:ready] then.',
      'I end with [INTENT:ready] then.',
      'feedback',
    ],
    ['missing', 'Plan', 'Plan', 'feedback'],
  ])(
    'P06 a tag %s is read the same in the first plan and in a revision',
    async (_where, reply, shown, intent) => {
      const query = `Tags: ${reply}`;
      product.model.on(query, () => text(reply));
      const id = await product.submit(query, { require_review: true });
      const first = await product.review(id);
      const second = (await product.feedback(id, 'Again')).json as ReviewBody & { plan: { intent: string } };
      const plan = intent === 'ready' ? shown : '';
      expect(first).toMatchObject({ intent, current_plan: plan });
      expect(first.rounds.at(-1)?.message).toBe(shown);
      expect(second).toMatchObject({ current_plan: plan, plan: { message: shown, intent } });
    },
  );

  test('P06 a model that says execute approves nothing', async () => {
    const { id, query } = await reviewed(() => text('Starting now.\n[INTENT:execute]'));
    expect((await product.feedback(id, 'Go on')).json).toMatchObject({
      status: 'reviewing',
      current_plan: PLAN,
      plan: { message: 'Starting now.', intent: 'ready' },
    });
    expect(product.model.calls(query, 'decompose')).toHaveLength(0);
  });

  test('P37 a Japanese plan stays Japanese after English feedback', async () => {
    const id = await product.submit(
      '潮汐はどのように起こりますか?',
      { require_review: true },
      { provider_override: 'offline' },
    );
    const kana = /[\u3040-\u30ff]/;
    expect((await product.review(id)).rounds[0]?.message).toMatch(kana);
    const { status, json } = await product.feedback(id, 'Please focus on spring tides');
    expect(status).toBe(200);
    expect(json.plan.message).toMatch(kana);
    expect(json.current_plan).toMatch(kana);
  });
});

describe('two at a time', () => {
  const IN_FLIGHT = 'Another feedback request is in progress. Please wait.';

  test('a feedback in flight holds off another one and an approval; one model call is made', async () => {
    const { reply, release } = held(ready('Slow plan'));
    const { id, query } = await reviewed(reply);
    const first = product.feedback(id, 'First', '1');
    await until(() => revisions(query).length === 1);
    const second = await product.feedback(id, 'Second', '1');
    expect([second.status, second.json.error]).toEqual([409, IN_FLIGHT]);
    const approval = await product.approve(id, '1');
    expect([approval.status, approval.json.error]).toEqual([
      409,
      'A feedback request is in progress. Please wait and try again.',
    ]);
    release();
    expect((await first).status).toBe(200);
    expect(await product.review(id)).toMatchObject({ version: 2, current_plan: 'Slow plan' });
    expect(revisions(query)).toHaveLength(1);
  });

  test('P01 two that come at once: one 200, one 409, one model call, no lost round', async () => {
    const { reply, release } = held(ready('One of two'));
    const { id, query } = await reviewed(reply);
    const both = [product.feedback(id, 'A', '1'), product.feedback(id, 'B', '1')];
    const loser = await Promise.race(both);
    expect([loser.status, loser.json.error]).toEqual([409, IN_FLIGHT]);
    release();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409]);
    expect((await product.review(id)).rounds).toHaveLength(3);
    expect(revisions(query)).toHaveLength(1);
  });

  test('the same If-Match one after the other: 200, then 409', async () => {
    const { id, query } = await reviewed();
    expect((await product.feedback(id, 'A', '1')).status).toBe(200);
    const { status, json } = await product.feedback(id, 'B', '1');
    expect([status, json.error, json.version]).toEqual([409, 'Conflict: state has been modified', 2]);
    expect(revisions(query)).toHaveLength(1);
  });

  test('an extension does not disturb a feedback in flight, an edit makes it a conflict', async () => {
    for (const [action, status] of [
      [{ action: 'extend', seconds: 60 }, 200],
      [{ action: 'edit', plan: 'Mine' }, 409],
    ] as const) {
      const { reply, release } = held(ready('Late plan'));
      const { id, query } = await reviewed(reply);
      const feedback = product.feedback(id, 'Slow');
      await until(() => revisions(query).length === 1);
      expect((await product.act(id, action)).status).toBe(200);
      release();
      expect((await feedback).status).toBe(status);
      expect((await product.review(id)).current_plan).toBe(status === 200 ? 'Late plan' : 'Mine');
    }
  });

  test('P03 a client that goes away during the model call loses nothing', async () => {
    const { reply, release } = held(ready('Saved all the same'));
    const { id, query } = await reviewed(reply);
    const reader = readStream(product.stack.gatewayUrl, id);
    const body = JSON.stringify({ action: 'feedback', message: 'And I am gone' });
    const req = request(`${product.stack.gatewayUrl}${taskPath(id, '/review')}`, {
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
    });
    req.on('error', () => undefined);
    req.end(body);
    await until(() => revisions(query).length === 1);
    const gone = new Promise((resolve) => req.once('close', resolve));
    req.destroy();
    await gone;
    expect((await product.review(id)).version).toBe(1);
    release();

    await reader.has('RESEARCH_PLAN_UPDATED');
    expect(await product.review(id)).toMatchObject({ version: 2, current_plan: 'Saved all the same' });
    reader.close();
    // Sooner than the lock of the first one would have run out by itself.
    await until(async () => (await product.feedback(id, 'Next', '2')).status === 200, 10_000);
  });
});

describe('a model that fails', () => {
  const without = (field: string) => {
    const body = completion('Plan\n[INTENT:ready]') as Record<string, unknown>;
    delete body[field];
    return body;
  };
  test.concurrent.each<[string, Step]>([
    ['answers 500 again and again', { do: 'json', status: 500, body: { error: { message: 'secret' } } }],
    ['answers 401', { do: 'json', status: 401, body: { error: { message: 'secret' } } }],
    ['hangs', { do: 'hang' }],
    ['hangs after the headers', { do: 'hang after headers' }],
    ['resets the connection', { do: 'reset after headers' }],
    ['sends bytes that are no text', { do: 'bytes', bytes: Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d) }],
    ['sends an error body with 200', { do: 'json', body: { error: { message: 'secret' } } }],
    ['P21 leaves out the choices', { do: 'json', body: without('choices') }],
    ['sends no choice', { do: 'json', body: { ...without('choices'), choices: [] } }],
    ['sends nothing but a tag', text('[INTENT:ready]')],
    ['stops in the middle', { do: 'text', text: 'Half a pl\n[INTENT:ready]', finish: 'length' }],
    ['writes 33 KiB', ready('a'.repeat(33 * 1024))],
  ])('%s: 502, nothing changes, the round is not used', async (_name, step) => {
    let failing = true;
    const { id } = await reviewed(() => (failing ? step : undefined));
    const before = await product.review(id);
    const { status, json, text: body } = await product.feedback(id, 'Please', '1');
    expect([status, json.error]).toEqual([502, 'Failed to generate updated plan']);
    expect(body).not.toContain('secret');
    expect(await product.review(id)).toEqual(before);
    expect(await product.types(id)).not.toContain('REVIEW_USER_FEEDBACK');
    failing = false;
    expect((await product.feedback(id, 'Again', '1')).json).toMatchObject({ round: 2, version: 2 });
  });
});
