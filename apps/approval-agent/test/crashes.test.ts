import { SKIP_AUTH_TENANT, SKIP_AUTH_USER } from '@plangate/http';
import { connectRedis } from '@plangate/redis';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { threadWorkflowId } from '../src/thread-id.ts';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
let client: Client;
beforeAll(async () => {
  // A thread goes on in a new run after every third turn: nothing of what follows may notice it.
  rig = await startRig({ settings: '  turns_per_run: 3\n' });
  client = new Client({ connection: await Connection.connect({ address: rig.stack.temporal.address }) });
});
afterAll(async () => {
  await client?.connection.close();
  await rig?.stop();
});

const APPROVE = { type: 'approve' };
const notes = (...ns: number[]) => ({ calls: ns.map((n) => ({ name: 'note', args: { n } })) });
const never = () => new Promise<string>(() => undefined);

/** The results of a thread's calls, in their order. */
async function results(id: string): Promise<string[]> {
  return (await rig.messages(id)).flatMap((message) => (message.role === 'tool' ? [message.content] : []));
}
const called = (...among: number[]) => rig.tool.calls.filter((n) => among.includes(n));
const answered = (id: string) => async () => (await rig.get(`/hitl/threads/${id}`)).body.answer !== null;

test('H12 P61 a process that is killed in the second of three approved calls repeats none and answers each', async () => {
  rig.llm.on('kill', [notes(1, 2, 3), 'All done.']);
  const { id } = await rig.waiting('kill');
  rig.tool.on(2, never);
  const asking = rig.review(id, [APPROVE, APPROVE, APPROVE]).catch(() => 'gone');
  await until(() => called(2).length === 1);
  const agent = rig.stack.apps.approvalAgent;
  await agent.kill();
  expect(await asking).toBe('gone');
  await agent.restart();

  await until(answered(id), 60_000);

  expect(called(1, 2, 3)).toEqual([1, 2, 3]);
  // H17: a crash is not told as a rejection.
  expect(await results(id)).toEqual([
    'done 1',
    'Error: note was interrupted; it is unknown whether it ran.',
    'done 3',
  ]);
  expect((await rig.get(`/hitl/threads/${id}`)).body.answer).toBe('All done.');
  await rig.keepHistory('killed-in-a-call', id);
  rig.llm.on('kill', (_messages, turn) => (turn === 2 ? notes(4) : 'Again.'));
  expect((await rig.chat('once more', id)).body.pending_review.action_requests).toHaveLength(1);
  expect((await rig.review(id, [APPROVE])).body.answer).toBe('Again.');
}, 120_000);

test('H15 a review survives the restart of the process, and is answered once', async () => {
  rig.llm.on('restart', [notes(11), 'Done.']);
  const { id, reviewId, body } = await rig.waiting('restart');
  await rig.stack.apps.approvalAgent.restart();
  const again = await rig.get(`/hitl/threads/${id}`);
  expect([again.body, again.headers.get('x-review-id')]).toEqual([body, reviewId]);
  expect((await rig.review(id, [APPROVE])).body.answer).toBe('Done.');
  expect(called(11)).toEqual([11]);
  await rig.keepHistory('restarted', id);
}, 90_000);

test('a turn that is under way when the process is stopped goes on after the next start', async () => {
  let release: (() => void) | undefined;
  let asked = 0;
  rig.llm.on('stopped', async () => {
    asked += 1;
    if (asked === 1) await new Promise<void>((resolve) => (release = resolve));
    return 'Answered.';
  });
  const thread = 'thread-that-is-stopped';
  const asking = rig.chat('stopped', thread).catch(() => null);
  await until(() => asked === 1);
  await rig.stack.apps.approvalAgent.restart();
  await asking;
  await until(answered(thread), 60_000);
  expect((await rig.messages(thread)).map(({ content }) => content)).toEqual(['stopped', 'Answered.']);
  release?.();
}, 120_000);

test('P50 a process that is killed while the model is asked asks again after the next start', async () => {
  let asked = 0;
  rig.llm.on('killed in the model', async () => {
    asked += 1;
    return asked === 1 ? never() : 'Answered at last.';
  });
  const thread = 'killed-in-the-model';
  const asking = rig.chat('killed in the model', thread).catch(() => 'gone');
  await until(() => asked === 1);
  await rig.stack.apps.approvalAgent.kill();
  expect(await asking).toBe('gone');
  await rig.stack.apps.approvalAgent.restart();
  await until(answered(thread), 60_000);
  expect((await rig.messages(thread)).map(({ content }) => content)).toEqual([
    'killed in the model',
    'Answered at last.',
  ]);
  await rig.keepHistory('killed-in-the-model', thread);
}, 120_000);

test('P03 a client that goes away cancels nothing', async () => {
  rig.llm.on('leave', [notes(21, 22), 'Done.']);
  const { id } = await rig.waiting('leave');
  let release: (() => void) | undefined;
  rig.tool.on(21, async () => {
    await new Promise<void>((resolve) => (release = resolve));
    return 'late';
  });
  const abort = new AbortController();
  const asking = fetch(`${rig.stack.approvalUrl}/hitl/review`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ thread_id: id, decisions: [APPROVE, APPROVE] }),
    signal: abort.signal,
  }).catch(() => 'gone');
  await until(() => release !== undefined);
  // Meanwhile nobody else gets in.
  expect(await rig.chat('hello?', id)).toMatchObject({
    status: 409,
    body: { detail: 'Percakapan sedang diproses' },
  });
  expect(await rig.review(id, [APPROVE, APPROVE])).toMatchObject({
    status: 409,
    body: { detail: 'Keputusan lain sedang diproses' },
  });
  expect((await rig.get(`/hitl/threads/${id}`)).body).toEqual({
    thread_id: id,
    answer: null,
    pending_review: null,
  });
  abort.abort();
  expect(await asking).toBe('gone');
  release?.();
  await until(answered(id));
  expect(await results(id)).toEqual(['late', 'done 22']);
  expect(called(21, 22)).toEqual([21, 22]);
}, 60_000);

test('a thread of many turns goes on over the runs of its workflow, with its history and its open review', async () => {
  const id = 'many-turns';
  const rounds = [0, 1, 2, 3, 4];
  rig.llm.on(
    'round 0',
    rounds.flatMap((n) => [notes(100 + n), `answer ${n}`]),
  );
  const runs = new Set<string>();
  for (const n of rounds) {
    const { body, headers } = await rig.chat(`round ${n}`, id);
    expect(body.pending_review.action_requests[0].args).toEqual({ n: 100 + n });
    runs.add(await runOf(id));
    const reviewed = await rig.review(id, [APPROVE], { 'If-Match': headers.get('etag') ?? '' });
    expect(reviewed.body.answer).toBe(`answer ${n}`);
  }
  expect(runs.size).toBeGreaterThan(2);
  await rig.keepHistory('later-run', id);
  expect(called(100, 101, 102, 103, 104)).toEqual([100, 101, 102, 103, 104]);
  expect((await rig.messages(id)).map(({ content }) => content)).toEqual(
    rounds.flatMap((n) => [`round ${n}`, '', `done ${100 + n}`, `answer ${n}`]),
  );
}, 60_000);

test('messages that come at once, over runs that follow each other, are each answered or refused', async () => {
  rig.llm.on('crowd', (_messages, turn) => `answer ${turn}`);
  const id = 'crowd';
  let answered = 0;
  for (let round = 0; round < 8; round += 1) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.chat('crowd', id)));
    for (const { status, body } of answers) {
      expect([200, 409]).toContain(status);
      if (status === 409) expect(body).toEqual({ detail: 'Percakapan sedang diproses' });
      else answered += 1;
    }
  }
  expect(answered).toBeGreaterThanOrEqual(8);
  const messages = await rig.messages(id);
  expect(messages.map(({ content }) => content)).toEqual(
    Array.from({ length: answered }, (_, n) => ['crowd', `answer ${n}`]).flat(),
  );
}, 120_000);

test('P89 H07 a key whose answer was lost finds it in the next run too, and answers no later review', async () => {
  const key = 'lost-at-the-end-of-a-run';
  rig.llm.on('first of three', ['Hello.', notes(41), notes(42), notes(43)]);
  const { id } = await rig.chat('first of three').then(({ body }) => ({ id: body.thread_id as string }));
  await rig.chat('the second', id);
  const runBefore = await runOf(id);
  rig.tool.on(41, never);
  const body = { thread_id: id, decisions: [APPROVE] };
  const send = () => rig.post('/hitl/review', body, { 'Idempotency-Key': key });
  const lost = send().catch(() => 'gone');
  await until(() => called(41).length === 1);
  await rig.stack.apps.approvalAgent.kill();
  expect(await lost).toBe('gone');
  await forgetAnswers();
  await rig.stack.apps.approvalAgent.restart();
  await until(async () => (await runOf(id)) !== runBefore, 60_000);

  const found = await send();
  expect(found.body.pending_review?.action_requests[0].args).toEqual({ n: 42 });
  expect(called(42)).toEqual([]);

  // Later the answer is nobody's any more: then it is refused, and not done again.
  expect((await rig.review(id, [APPROVE])).body.pending_review.action_requests[0].args).toEqual({ n: 43 });
  await forgetAnswers();
  expect(await send()).toMatchObject({ status: 412, body: { detail: 'Review ini sudah tidak berlaku' } });
  expect(called(41, 42, 43)).toEqual([41, 42]);
}, 120_000);

test('P89 a chat whose answer was lost is not said twice, in the next run neither', async () => {
  const key = 'lost-chat';
  let asked = 0;
  rig.llm.on('lost 0', async (_messages, turn) => {
    if (turn === 2) asked += 1;
    return turn === 2 && asked === 1 ? await never() : `answer ${turn}`;
  });
  const id = 'lost-chat';
  for (const n of [0, 1]) expect((await rig.chat(`lost ${n}`, id)).body.answer).toBe(`answer ${n}`);
  const runBefore = await runOf(id);
  const body = { message: 'lost 2', thread_id: id };
  const send = () => rig.post('/hitl/chat', body, { 'Idempotency-Key': key });
  const lost = send().catch(() => 'gone');
  await until(() => asked === 1);
  await rig.stack.apps.approvalAgent.kill();
  expect(await lost).toBe('gone');
  await forgetAnswers();
  await rig.stack.apps.approvalAgent.restart();
  await until(async () => (await runOf(id)) !== runBefore, 60_000);

  expect((await send()).body.answer).toBe('answer 2');
  expect((await rig.chat('lost 3', id)).body.answer).toBe('answer 3');
  await forgetAnswers();
  expect(await send()).toMatchObject({ status: 409, body: { detail: 'Percakapan ini sudah berlanjut' } });
  expect((await rig.messages(id)).filter(({ role }) => role === 'user')).toHaveLength(4);
}, 120_000);

test('H09 a refusal leaves no event in the history', async () => {
  rig.llm.on('history', [notes(31), 'Done.']);
  const { id } = await rig.waiting('history');
  const before = await historyLength(id);
  expect((await rig.review(id, [])).status).toBe(422);
  expect((await rig.review(id, [APPROVE, APPROVE])).status).toBe(400);
  expect((await rig.review(id, [{ type: 'edit' }])).status).toBe(400);
  expect((await rig.review(id, [APPROVE], { 'If-Match': '"other"' })).status).toBe(412);
  expect((await rig.chat('now?', id)).status).toBe(400);
  expect(await historyLength(id)).toBe(before);
  expect((await rig.review(id, [APPROVE])).body.answer).toBe('Done.');
}, 60_000);

/** As if their time were over: what stands under Idempotency-Keys, but for what a first attempt was named. */
async function forgetAnswers(): Promise<void> {
  const redis = connectRedis(rig.stack.redis.url);
  await until(() => redis.status === 'ready');
  const keys = (await redis.keys('idem:*')).filter((key) => !key.endsWith(':reserved'));
  if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
}

function workflowOf(threadId: string): WorkflowHandle {
  const owner = { user: SKIP_AUTH_USER, tenant: SKIP_AUTH_TENANT };
  return client.workflow.getHandle(threadWorkflowId(owner, threadId));
}

async function runOf(threadId: string): Promise<string> {
  return (await workflowOf(threadId).describe()).runId;
}

async function historyLength(threadId: string): Promise<number> {
  return (await workflowOf(threadId).describe()).historyLength ?? -1;
}
