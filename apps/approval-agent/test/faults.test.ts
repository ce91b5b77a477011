import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const APPROVE = { type: 'approve' };
const REJECT = { type: 'reject' };
const notes = (...ns: number[]) => ({ calls: ns.map((n) => ({ name: 'note', args: { n } })) });
const called = (...among: number[]) => rig.tool.calls.filter((n) => among.includes(n));
async function results(id: string) {
  return (await rig.messages(id)).flatMap((message) => (message.role === 'tool' ? [message.content] : []));
}
const fails = async (): Promise<string> => {
  throw new Error('no');
};

describe('a tool that throws', () => {
  test('H11 H12 is a 500 without internals; the other calls run, no model is asked, the thread goes on', async () => {
    rig.llm.on('throws', [notes(1, 2, 3), 'Fine again.']);
    const { id } = await rig.waiting('throws');
    rig.tool.on(2, fails);
    const { status, body } = await rig.review(id, [APPROVE, APPROVE, APPROVE]);
    expect([status, body]).toEqual([500, { detail: 'Internal Server Error' }]);
    expect(called(1, 2, 3)).toEqual([1, 2, 3]);
    expect(await results(id)).toEqual(['done 1', 'Error: note failed.', 'done 3']);
    expect(rig.llm.asked('throws')).toHaveLength(1);
    expect((await rig.get(`/hitl/threads/${id}`)).body).toEqual({
      thread_id: id,
      answer: null,
      pending_review: null,
    });
    expect((await rig.review(id, [APPROVE])).status).toBe(400);
    expect((await rig.chat('and now?', id)).body.answer).toBe('Fine again.');
    await rig.keepHistory('tool-threw', id);
    expect(JSON.stringify(rig.llm.asked('throws').at(-1))).not.toContain('secrets');
    expect(called(1, 2, 3)).toEqual([1, 2, 3]);
  });

  test('is a 500 of a chat too, where it needs no approval', async () => {
    rig.llm.on('free throws', [{ calls: [{ name: 'look', args: { n: 11 } }] }, 'ok']);
    rig.tool.on(11, fails);
    expect(await rig.chat('free throws')).toMatchObject({
      status: 500,
      body: { detail: 'Internal Server Error' },
    });
  });
});

describe('a model that gives no answer', () => {
  const notConfigured = {
    status: 503,
    body: { error: 'LLM providers not configured', code: 'llm_not_configured' },
  };
  const failed = { status: 502, body: { error: 'The model provider failed', code: 'provider_failed' } };

  test.each([
    ['without a key is 503', notConfigured, 503, 'LLM providers not configured'],
    ['whose provider fails is 502', failed, 502, 'The model provider failed'],
    ['that says neither text nor calls is 502', '', 502, 'The model provider failed'],
  ])('%s, and the message can be sent again', async (name, reply, status, detail) => {
    let works = false;
    rig.llm.on(name, () => (works ? 'Now it works.' : reply));
    const id = `model ${name}`;
    expect(await rig.chat(name, id)).toMatchObject({ status, body: { detail } });
    works = true;
    expect((await rig.chat(name, id)).body.answer).toBe('Now it works.');
    expect((await rig.messages(id)).map(({ content }) => content)).toEqual([name, 'Now it works.']);
  });

  test('whose service is away is asked some times, and then 503', async () => {
    rig.llm.on('away', [{ status: 503, body: { error: 'stopping', code: 'stopping' } }]);
    const { status, body, headers } = await rig.chat('away');
    expect([status, body]).toEqual([503, { detail: 'Model service unavailable' }]);
    expect(headers.get('retry-after')).toMatch(/^[1-9]/);
    expect(rig.llm.asked('away')).toHaveLength(5);
  });

  test('after an approval leaves the results standing; the thread goes on without repeating a call', async () => {
    rig.llm.on('fails later', [notes(21), failed, 'Back.']);
    const { id } = await rig.waiting('fails later');
    expect((await rig.review(id, [APPROVE])).status).toBe(502);
    expect(await results(id)).toEqual(['done 21']);
    rig.llm.on('fails later', ['', 'Back.']);
    expect((await rig.chat('go on', id)).body.answer).toBe('Back.');
    expect(called(21)).toEqual([21]);
    await rig.keepHistory('model-failed', id);
  });
});

describe('Idempotency-Key', () => {
  const keyed = (path: string, body: unknown, key: string) =>
    rig.post(path, body, { 'Idempotency-Key': key });

  test('a chat that is sent again is answered once, under one thread', async () => {
    rig.llm.on('keyed chat', ['Hello.']);
    const key = randomUUID();
    const first = await keyed('/hitl/chat', { message: 'keyed chat' }, key);
    const second = await keyed('/hitl/chat', { message: 'keyed chat' }, key);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.headers.get('x-idempotency-cached')).toBe('true');
    expect(rig.llm.asked('keyed chat')).toHaveLength(1);
    expect(await keyed('/hitl/chat', { message: 'other' }, key)).toMatchObject({
      status: 422,
      body: { detail: 'Idempotency-Key was used with another request body' },
    });
  });

  test('P89 an approval that is sent again gives the first answer with its headers, and runs once', async () => {
    rig.llm.on('keyed review', [notes(31), notes(32), 'Done.']);
    const { id } = await rig.waiting('keyed review');
    const body = { thread_id: id, decisions: [APPROVE] };
    const key = randomUUID();
    const first = await keyed('/hitl/review', body, key);
    const again = await keyed('/hitl/review', body, key);
    expect(first.body.pending_review.action_requests[0].args).toEqual({ n: 32 });
    expect([again.body, again.headers.get('etag')]).toEqual([first.body, first.headers.get('etag')]);
    expect(called(31, 32)).toEqual([31]);
  });

  test('H07 P89 an answer that was not taken at first never answers a later review under the same key', async () => {
    rig.llm.on('keyed bound', [notes(61), notes(62, 63), 'Done.']);
    const { id } = await rig.waiting('keyed bound');
    const body = { thread_id: id, decisions: [APPROVE, APPROVE] };
    const key = randomUUID();
    // Two answers to one action: what is left is the key, as after a death before the answer was handed on.
    expect((await keyed('/hitl/review', body, key)).status).toBe(400);
    const next = await rig.review(id, [APPROVE]);
    expect(next.body.pending_review.action_requests).toHaveLength(2);

    expect(await keyed('/hitl/review', body, key)).toMatchObject({
      status: 412,
      body: { detail: 'Review ini sudah tidak berlaku' },
    });
    expect(called(61, 62, 63)).toEqual([61]);
    expect((await keyed('/hitl/review', body, randomUUID())).body.answer).toBe('Done.');
    expect(called(61, 62, 63)).toEqual([61, 62, 63]);
  });

  test('a turn that failed in its tool is not done again by the same key', async () => {
    rig.llm.on('keyed fault', [notes(41), 'Done.']);
    rig.tool.on(41, fails);
    const { id } = await rig.waiting('keyed fault');
    const body = { thread_id: id, decisions: [APPROVE] };
    const key = randomUUID();
    expect((await keyed('/hitl/review', body, key)).status).toBe(500);
    expect((await keyed('/hitl/review', body, key)).status).toBe(500);
    expect(called(41)).toEqual([41]);
  });

  test('a chat that no model answered is done again by the same key', async () => {
    let works = false;
    rig.llm.on('keyed again', () => (works ? 'Now.' : { status: 502, body: { error: 'x', code: 'x' } }));
    const key = randomUUID();
    expect((await keyed('/hitl/chat', { message: 'keyed again' }, key)).status).toBe(502);
    works = true;
    expect((await keyed('/hitl/chat', { message: 'keyed again' }, key)).body.answer).toBe('Now.');
  });

  test('a key whose first attempt was lost with its process finds what that one did', async () => {
    rig.llm.on('keyed lost', [notes(51), 'Done.']);
    let release: (() => void) | undefined;
    rig.tool.on(51, async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return 'slow';
    });
    const { id } = await rig.waiting('keyed lost');
    const body = { thread_id: id, decisions: [REJECT] };
    const approve = { thread_id: id, decisions: [APPROVE] };
    const key = randomUUID();
    const lost = keyed('/hitl/review', approve, key).catch(() => 'gone');
    await until(() => release !== undefined);
    await rig.stack.apps.approvalAgent.kill();
    expect(await lost).toBe('gone');
    await rig.stack.apps.approvalAgent.restart();
    // Its marker is a running request's until it runs out.
    await until(async () => {
      const { status, body: answer } = await keyed('/hitl/review', approve, key);
      if (status === 409) return false;
      expect([status, answer]).toEqual([200, { thread_id: id, answer: 'Done.', pending_review: null }]);
      return true;
    }, 90_000);
    release?.();
    expect((await rig.post('/hitl/review', body)).status).toBe(400);
    expect(called(51)).toEqual([51]);
    expect(await results(id)).toEqual(['Error: note was interrupted; it is unknown whether it ran.']);
  }, 150_000);
});

describe('sizes', () => {
  test('P32 P99 a result of more than 64 KiB is left out and said to be', async () => {
    rig.llm.on('big result', [{ calls: [{ name: 'look', args: { n: 61 } }] }, 'ok']);
    rig.tool.on(61, async () => 'x'.repeat(64 * 1024 + 1));
    const { body } = await rig.chat('big result');
    expect(body.answer).toBe('ok');
    expect(await results(body.thread_id)).toEqual([
      'Error: look was executed, but its result is longer than 64 KiB.',
    ]);
  });

  test('P38 a thread ends at 1 MiB with a clear refusal, and stays readable', async () => {
    const id = 'long-thread';
    const message = 'a'.repeat(60 * 1024);
    rig.llm.on(message, () => 'b'.repeat(30 * 1024));
    let last = await rig.chat(message, id);
    let turns = 1;
    while (last.status === 200 && turns < 20) {
      last = await rig.chat(message, id);
      turns += 1;
    }
    expect(last).toMatchObject({
      status: 400,
      body: { detail: 'Percakapan ini sudah mencapai batas 1 MiB. Mulai percakapan baru.' },
    });
    expect(turns).toBeGreaterThan(10);
    expect(await rig.messages(id)).toHaveLength((turns - 1) * 2);
  }, 60_000);
});

test('H16 fifty threads that wait at once do not mix', async () => {
  const names = Array.from({ length: 50 }, (_, n) => n);
  const ids = new Map<number, string>();
  for (const n of names) rig.llm.on(`mix ${n}`, [notes(1_000 + n), `answer ${n}`]);
  await inTens(names, async (n) => {
    const { id, body } = await rig.waiting(`mix ${n}`);
    ids.set(n, id);
    expect(body.pending_review?.action_requests[0]?.args).toEqual({ n: 1_000 + n });
  });
  await inTens(names.toReversed(), async (n) => {
    const { body } = await rig.review(ids.get(n) ?? '', [n % 2 === 0 ? APPROVE : REJECT]);
    expect(body.answer).toBe(`answer ${n}`);
  });
  const even = names.filter((n) => n % 2 === 0).map((n) => 1_000 + n);
  expect(called(...names.map((n) => 1_000 + n)).sort()).toEqual(even);
}, 180_000);

/** Ten at a time. */
async function inTens(numbers: number[], work: (n: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < numbers.length; at += 10) await Promise.all(numbers.slice(at, at + 10).map(work));
}

test('health, readiness and metrics are open', async () => {
  expect(await rig.get('/health')).toMatchObject({ status: 200, body: { status: 'healthy' } });
  expect(await rig.get('/readiness')).toMatchObject({
    status: 200,
    body: { status: 'ready', checks: { redis: 'ok', temporal: 'ok', 'llm-service': 'ok' } },
  });
  const metrics = await fetch(`${rig.stack.approvalUrl}/metrics`);
  expect(await metrics.text()).toContain('process_cpu_seconds_total');
});
