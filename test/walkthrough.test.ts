import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { taskPath } from './support/client.ts';
import { CLAIM, PLAN, REVISED } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { readStream } from './support/sse.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

const QUERY = '2025年のAIエージェントフレームワークの競争状況を調査';
const MESSAGE = 'オープンソースフレームワークにより注力し、価格比較を含めてください';
const REVIEWED = { force_research: true, require_review: true };
/** Who every caller is while auth is off. */
const SOMEBODY = '00000000-0000-0000-0000-000000000002';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('a task goes from submit over plan, feedback and approval to the cited report, field by field', async () => {
  const { model } = product;

  const submitted = await product.post('/api/v1/tasks', { query: QUERY, context: REVIEWED });
  const id = submitted.json.task_id;
  expect(submitted.status).toBe(200);
  expect(id).toMatch(/^task-[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(submitted.json).toEqual({
    task_id: id,
    status: 'STATUS_CODE_OK',
    message: `Task submitted successfully. Session: ${submitted.json.session_id}`,
    created_at: TIME,
    workflow_id: id,
    session_id: expect.stringMatching(/./),
  });
  expect(submitted.headers.get('x-workflow-id')).toBe(id);
  expect(submitted.headers.get('x-session-id')).toBe(submitted.json.session_id);
  expect(submitted.headers.get('x-request-id')).toMatch(/./);

  const first = await product.ask(taskPath(id, '/review'));
  expect(first.status).toBe(200);
  expect(first.headers.get('etag')).toBe('"1"');
  expect(first.headers.get('cache-control')).toBe('no-cache');
  expect(first.json).toEqual({
    status: 'reviewing',
    round: 1,
    version: 1,
    current_plan: PLAN,
    rounds: [{ role: 'assistant', message: PLAN, timestamp: TIME }],
    query: QUERY,
    intent: 'ready',
    created_at: TIME,
    expires_at: TIME,
    max_rounds: 10,
    feedbacks_left: 10,
    plan_version: 1,
    plan_sha256: sha256(PLAN),
  });
  expect(Date.parse(first.json.expires_at) - Date.parse(first.json.created_at)).toBe(900_000);
  const again = await product.ask(taskPath(id, '/review'), { headers: { 'If-None-Match': '"1"' } });
  expect([again.status, again.text]).toEqual([304, '']);
  expect(await product.task(id)).toMatchObject({ status: 'TASK_STATUS_RUNNING', result: '' });

  const updated = await product.feedback(id, MESSAGE, '1');
  expect(updated.status).toBe(200);
  expect(updated.headers.get('etag')).toBe('"2"');
  expect(updated.json).toEqual({
    status: 'reviewing',
    plan: { message: REVISED, round: 2, version: 2, intent: 'ready' },
    round: 2,
    version: 2,
    current_plan: REVISED,
    rounds: [
      { role: 'assistant', message: PLAN, timestamp: TIME },
      { role: 'user', message: MESSAGE, timestamp: TIME },
      { role: 'assistant', message: REVISED, timestamp: TIME },
    ],
    query: QUERY,
  });
  expect(model.calls(QUERY, 'plan').at(-1)?.prompt).toContain(MESSAGE);

  const stale = await product.feedback(id, 'Another wish', '1');
  expect(stale.status).toBe(409);
  expect(stale.headers.get('etag')).toBe('"2"');
  expect(stale.json).toMatchObject({ error: 'Conflict: state has been modified', version: 2 });
  const staleApproval = await product.approve(id, '1');
  expect([staleApproval.status, staleApproval.json.error]).toEqual([
    409,
    'Conflict: plan has been updated. Please review the latest version.',
  ]);

  const approved = await product.approve(id, '2');
  expect(approved.status).toBe(200);
  expect(approved.json).toEqual({ status: 'approved', message: 'Research started' });
  expect(approved.headers.get('etag')).toBe('"3"');
  const closed = await product.review(id);
  expect(closed).toMatchObject({
    status: 'approved',
    version: 3,
    current_plan: REVISED,
    decision: { action: 'approve', by: SOMEBODY, at: TIME },
  });

  const task = await product.ended(id);
  const citation = {
    n: 1,
    title: expect.stringContaining('How tides work'),
    url: expect.stringMatching(/tides\.md$/),
    source: 'local',
    passage_id: expect.stringMatching(/./),
    quote: expect.stringContaining('raises a bulge on the near side of the Earth'),
    checked: true,
  };
  expect(task).toEqual({
    task_id: id,
    workflow_id: id,
    status: 'TASK_STATUS_COMPLETED',
    result: expect.stringContaining(CLAIM),
    created_at: submitted.json.created_at,
    updated_at: TIME,
    completed_at: TIME,
    query: QUERY,
    session_id: submitted.json.session_id,
    mode: 'standard',
    context: expect.objectContaining({
      ...REVIEWED,
      confirmed_plan: REVISED,
      review_conversation: updated.json.rounds,
    }),
    model_used: 'scripted',
    provider: 'scripted',
    // Four calls of 11 + 7 tokens: two plans, the questions, the report.
    usage: { input_tokens: 44, output_tokens: 28, total_tokens: 72, estimated_cost: expect.any(Number) },
    metadata: {
      citations: [citation],
      plan_sha256: sha256(REVISED),
      plan_version: 2,
      approved_by: SOMEBODY,
      strategy: 'standard',
      provider: 'scripted',
      verification: { claims: 1, supported: 1, unsupported: 0 },
    },
  });
});

test('submit with stream answers 201 with Link; its stream shows the four review events in order', async () => {
  const query = 'Stream the review of tides';
  const submitted = await product.post('/api/v1/tasks/stream', { query, context: REVIEWED });
  const id = submitted.json.task_id;
  const stream_url = `/api/v1/stream/sse?workflow_id=${id}`;
  expect(submitted.status).toBe(201);
  expect(submitted.json).toEqual({ workflow_id: id, task_id: id, stream_url });
  expect(submitted.headers.get('link')).toBe(`<${stream_url}>; rel="stream"`);
  expect(submitted.headers.get('x-workflow-id')).toBe(id);
  expect(submitted.headers.get('x-session-id')).toMatch(/./);

  const reader = readStream(product.stack.gatewayUrl, id);
  await reader.has('RESEARCH_PLAN_READY');
  const { expires_at } = await product.review(id);
  expect((await product.feedback(id, MESSAGE, '1')).status).toBe(200);
  expect((await product.approve(id, '2')).status).toBe(200);
  expect(await reader.ended).toBe('end');

  const ofReview = reader.data().filter(({ type }) => /^(RESEARCH_PLAN_|REVIEW_)/.test(type));
  const common = { workflow_id: id, timestamp: TIME, seq: expect.any(Number), stream_id: expect.any(String) };
  expect(ofReview).toEqual([
    {
      ...common,
      type: 'RESEARCH_PLAN_READY',
      agent_id: 'planner',
      message: PLAN,
      payload: { round: 1, intent: 'ready', version: 1, expires_at },
    },
    {
      ...common,
      type: 'REVIEW_USER_FEEDBACK',
      agent_id: 'user',
      message: MESSAGE,
      payload: { round: 2, version: 2 },
    },
    {
      ...common,
      type: 'RESEARCH_PLAN_UPDATED',
      agent_id: 'research-planner',
      message: REVISED,
      payload: { round: 2, version: 2, intent: 'ready' },
    },
    {
      ...common,
      type: 'RESEARCH_PLAN_APPROVED',
      agent_id: 'planner',
      message: 'Got it — starting research',
      payload: { plan_sha256: sha256(REVISED), approved_by: SOMEBODY, version: 3 },
    },
  ]);

  const names = reader.names();
  expect(names[0]).toBe('WORKFLOW_STARTED');
  const shown = [
    'DELEGATION',
    'AGENT_STARTED',
    'TOOL_INVOKED',
    'TOOL_OBSERVATION',
    'AGENT_COMPLETED',
    'PROGRESS',
  ];
  for (const name of shown) expect(names).toContain(name);
  expect(names.indexOf('DELEGATION')).toBeGreaterThan(names.indexOf('RESEARCH_PLAN_APPROVED'));
  expect(names.slice(-3)).toEqual(['thread.message.completed', 'WORKFLOW_COMPLETED', 'done']);
  const output = reader.data().find((data) => 'response' in data);
  expect(output).toMatchObject({ agent_id: 'final_output', payload: { citations: 1 } });
  expect(output.response).toBe((await product.ended(id)).result);
  expect(output).not.toHaveProperty('type');
  expect(reader.data().find(({ type }) => type === 'WORKFLOW_COMPLETED').message).toBe('All done');
});

test.each([
  ['require_review: true', { force_research: true, require_review: true }],
  ['review_plan: "manual"', { force_research: true, review_plan: 'manual' }],
])('%s holds the plan: no research begins before the approval', async (spelling, context) => {
  const query = `Hold by ${spelling}`;
  const id = await product.submit(query, context);
  expect(await product.review(id)).toMatchObject({ status: 'reviewing', version: 1, current_plan: PLAN });
  expect(product.model.calls(query).map(({ kind }) => kind)).toEqual(['plan']);
  expect((await product.approve(id, '1')).json).toEqual({ status: 'approved', message: 'Research started' });
  expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
  expect(product.model.calls(query).map(({ kind }) => kind)).toEqual(['plan', 'decompose', 'write']);
});

test('P30 one hash names the approved plan in the review, its event and the result', async () => {
  const id = await product.submit('Follow the hash of the plan', REVIEWED);
  const { current_plan, plan_sha256 } = await product.review(id);
  await product.approve(id);
  const { metadata, context } = await product.ended(id);
  const approval = (await product.events(id)).find(({ type }) => type === 'RESEARCH_PLAN_APPROVED');
  expect([plan_sha256, approval?.payload?.['plan_sha256'], metadata['plan_sha256']]).toEqual(
    Array(3).fill(sha256(current_plan)),
  );
  expect(context['confirmed_plan']).toBe(current_plan);
});

test('P30 a plan that a person edited is the one that runs', async () => {
  const query = 'Edit the plan before it runs';
  const edited = 'Only the spring tides.\n\nLeave out the tables. 潮汐のみ。';
  const id = await product.submit(query, REVIEWED);
  await product.review(id);
  const edit = await product.act(id, { action: 'edit', plan: edited }, '1');
  expect([edit.status, edit.headers.get('etag'), edit.json.current_plan]).toEqual([200, '"2"', edited]);
  await product.approve(id, '2');
  const { metadata } = await product.ended(id);
  expect(metadata['plan_sha256']).toBe(sha256(edited));
  for (const kind of ['decompose', 'write'] as const) {
    const [call] = product.model.calls(query, kind);
    expect(call?.prompt).toContain(edited);
    expect(call?.prompt.split('Conversation that led to the plan')[0]).not.toContain(PLAN);
  }
  const event = (await product.events(id)).find(({ type }) => type === 'RESEARCH_PLAN_EDITED');
  expect(event).toMatchObject({ agent_id: 'user', message: edited, payload: { version: 2 } });
});

test('the feedback after an edit revises the edited text, and versions and diff show every plan', async () => {
  const query = 'Revise what was edited';
  const id = await product.submit(query, REVIEWED);
  await product.review(id);
  await product.act(id, { action: 'edit', plan: 'A plan by a person.' }, '1');
  expect((await product.feedback(id, 'More of it', '2')).json).toMatchObject({ version: 3, round: 2 });
  const asked = product.model.calls(query, 'plan').at(-1)?.prompt ?? '';
  expect(asked.slice(asked.indexOf('Current plan'))).toContain('A plan by a person.');
  const { json } = await product.ask(taskPath(id, '/review/versions'));
  expect(json.versions.map(({ version, author, text }: never) => [version, author, text])).toEqual([
    [1, 'assistant', PLAN],
    [2, 'user', 'A plan by a person.'],
    [3, 'assistant', REVISED],
  ]);
  const diff = await product.ask(taskPath(id, '/review/diff?from=1&to=2'));
  expect(diff.json).toMatchObject({
    from: 1,
    to: 2,
    unified: expect.stringContaining('+A plan by a person.'),
  });
});

test('without a review there is no review state and no RESEARCH_PLAN_* event', async () => {
  const id = await product.submit('Research without review', { force_research: true });
  expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
  expect((await product.types(id)).filter((type) => /RESEARCH_PLAN|REVIEW/.test(type))).toEqual([]);
  const review = await product.ask(taskPath(id, '/review'));
  expect([review.status, review.json.error]).toEqual([404, 'Review session not found or expired']);
});
