import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { WorkflowId } from '@plangate/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Rig, startRig, until } from './rig.ts';

const fixture = (name: string) =>
  JSON.parse(readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8'));

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.llm.requests.length = 0;
  rig.llm.reply = ({ current_round }) => ({ message: `Plan of round ${current_round}` });
});

const pathOf = (id: string) => `/api/v1/tasks/${id}/review`;
const act = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  rig.post(pathOf(id), body, headers);

/** A review after one edit: version 2. */
async function atVersion2(): Promise<WorkflowId> {
  const id = await rig.review();
  await act(id, { action: 'edit', plan: 'Second plan' });
  return id;
}

describe('reading', () => {
  test('GET answers body, ETag and Cache-Control, and 304 to the version that the reader has', async () => {
    const id = await rig.review();
    const first = await rig.ask(pathOf(id));
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({ etag: '"1"', 'cache-control': 'no-cache' });
    expect(first.json).toMatchObject({
      status: 'reviewing',
      round: 1,
      version: 1,
      current_plan: 'First plan',
      rounds: [{ role: 'assistant', message: 'First plan' }],
      query: 'What is known?',
      feedbacks_left: 10,
    });
    for (const header of ['"1"', 'W/"1"', '"7", "1"', '*']) {
      const again = await rig.ask(pathOf(id), { headers: { 'If-None-Match': header } });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', '"1"']);
    }
    expect((await rig.ask(pathOf(id), { headers: { 'If-None-Match': '"2"' } })).status).toBe(200);
  });

  test('versions and diff show every text that was the plan; an unknown version is 400', async () => {
    const id = await atVersion2();
    const { json } = await rig.ask(`${pathOf(id)}/versions`);
    expect(
      json.versions.map((v: { version: number; author: string; by?: string }) => [v.version, v.author, v.by]),
    ).toEqual([
      [1, 'assistant', undefined],
      [2, 'user', 'alice'],
    ]);
    const diff = await rig.ask(`${pathOf(id)}/diff?from=1&to=2`);
    expect(diff.json.changes).toContainEqual({ op: 'insert', text: 'Second' });
    for (const query of ['?from=1&to=3', '?from=1', '', '?from=a&to=2', '?from=01&to=2']) {
      expect((await rig.ask(`${pathOf(id)}/diff${query}`)).json).toMatchObject({ code: 'unknown_version' });
    }
  });
});

describe('feedback', () => {
  test('answers the documented nested plan and the flat fields, and asks the model with the conversation', async () => {
    const id = await rig.review();
    const answer = await act(id, { action: 'feedback', message: 'Add prices' }, { 'If-Match': '"1"' });
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('"2"');
    expect(answer.json).toEqual({
      status: 'reviewing',
      plan: { message: 'Plan of round 1', round: 2, version: 2, intent: 'ready' },
      round: 2,
      version: 2,
      current_plan: 'Plan of round 1',
      rounds: [
        expect.objectContaining({ role: 'assistant', message: 'First plan' }),
        expect.objectContaining({ role: 'user', message: 'Add prices' }),
        expect.objectContaining({ role: 'assistant', message: 'Plan of round 1' }),
      ],
      query: 'What is known?',
    });
    const [asked] = rig.llm.requests;
    expect(asked).toMatchObject({ current_plan: 'First plan', current_round: 1, max_rounds: 10 });
    expect(asked?.is_final_round).toBeUndefined();
    expect(asked?.conversation.at(-1)).toMatchObject({ role: 'user', message: 'Add prices' });
    expect(asked?.context).toEqual({ require_review: true });
    await until(async () => (await rig.tasks.load(id))?.usage.total_tokens === 7);
  });

  test('P14 every message of the table is taken or refused with its text, before the model is asked', async () => {
    const cases = fixture('feedback-messages.json').cases as {
      text?: string;
      unit?: string;
      times?: number;
      json?: unknown;
      lone_surrogate?: boolean;
      stored?: string;
      expect: number;
    }[];
    for (const item of cases) {
      const id = await rig.review();
      const text = item.unit ? item.unit.repeat(item.times ?? 1) : item.text;
      const before = rig.llm.requests.length;
      const answer = item.lone_surrogate
        ? await rig.ask(pathOf(id), { method: 'POST', raw: '{"action":"feedback","message":"x\\ud800"}' })
        : await act(id, { action: 'feedback', message: text ?? item.json });
      expect([answer.status, text ?? item.json]).toEqual([item.expect, text ?? item.json]);
      const after = await rig.ask(pathOf(id));
      expect(after.json.status).toBe('reviewing');
      if (item.expect === 200) {
        if (item.stored) expect(after.json.rounds[1].message).toBe(item.stored);
        if (item.lone_surrogate) expect(after.json.rounds[1].message).toBe('x\ufffd');
      } else {
        const tooLong = item.unit !== undefined;
        expect(answer.json).toMatchObject(
          tooLong
            ? { error: 'message exceeds maximum length (10KB)', code: 'message_too_long', limit: 10_240 }
            : { error: 'message is required for feedback', code: 'message_required' },
        );
        expect(rig.llm.requests.length).toBe(before);
        expect(after.json.version).toBe(1);
      }
    }
  }, 60_000);

  test('a model that fails is 502, changes nothing and uses no round', async () => {
    const id = await rig.review();
    rig.llm.reply = () => ({ status: 502 });
    const failed = await act(id, { action: 'feedback', message: 'Add prices' });
    expect([failed.status, failed.json.error]).toEqual([502, 'Failed to generate updated plan']);
    const { json } = await rig.ask(pathOf(id));
    expect([json.version, json.feedbacks_left]).toEqual([1, 10]);
    rig.llm.reply = () => ({ message: 'Better' });
    expect((await act(id, { action: 'feedback', message: 'Again' }, { 'If-Match': '1' })).status).toBe(200);
  });

  test('the last feedback is final, and there is none after it', async () => {
    const id = await rig.review();
    for (let n = 1; n <= 10; n += 1) {
      expect((await act(id, { action: 'feedback', message: `No ${n}` })).status).toBe(200);
    }
    expect(rig.llm.requests.map(({ is_final_round }) => is_final_round === true)).toEqual([
      ...Array<boolean>(9).fill(false),
      true,
    ]);
    const refused = await act(id, { action: 'feedback', message: 'No 11' });
    expect([refused.status, refused.headers.etag]).toEqual([409, '"11"']);
    expect(refused.json.error).toBe('Maximum review rounds reached. Please approve the plan.');
  });

  test('P01 of two feedbacks on the same version one is answered and the other is a conflict', async () => {
    const id = await rig.review();
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    rig.llm.reply = async () => {
      started.resolve();
      await go.promise;
      return { message: 'One answer' };
    };
    const first = act(id, { action: 'feedback', message: 'A' }, { 'If-Match': '"1"' });
    await started.promise;
    const second = await act(id, { action: 'feedback', message: 'B' }, { 'If-Match': '"1"' });
    expect([second.status, second.json.error]).toEqual([
      409,
      'Another feedback request is in progress. Please wait.',
    ]);
    const approve = await act(id, { action: 'approve' });
    expect([approve.status, approve.json.error]).toEqual([
      409,
      'A feedback request is in progress. Please wait and try again.',
    ]);
    go.resolve();
    expect((await first).status).toBe(200);
    expect((await act(id, { action: 'feedback', message: 'B' }, { 'If-Match': '"1"' })).json).toMatchObject({
      error: 'Conflict: state has been modified',
      version: 2,
    });
    expect((await rig.ask(pathOf(id))).json.rounds).toHaveLength(3);
  });

  test('P02 a lock that is lost during the model call costs a call, never an update', async () => {
    const id = await rig.review();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    rig.llm.reply = async ({ conversation }) => {
      const message = conversation.at(-1)?.message ?? '';
      await (message === 'A' ? first : second).promise;
      return { message: `Answer to ${message}` };
    };
    const slow = act(id, { action: 'feedback', message: 'A' });
    await until(() => rig.llm.requests.length === 1);
    await rig.redis.del(`review:{${id}}:lock`);
    const quick = act(id, { action: 'feedback', message: 'B' });
    await until(() => rig.llm.requests.length === 2);
    second.resolve();
    expect((await quick).json.current_plan).toBe('Answer to B');
    first.resolve();
    const loser = await slow;
    expect([loser.status, loser.json.error]).toEqual([409, 'Conflict: state has been modified']);
    expect((await rig.ask(pathOf(id))).json).toMatchObject({ version: 2, current_plan: 'Answer to B' });
  });

  test('P03 a client that goes away during the model call loses nothing', async () => {
    const id = await rig.review();
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    rig.llm.reply = async () => {
      started.resolve();
      await go.promise;
      return { message: 'Saved all the same' };
    };
    const body = JSON.stringify({ action: 'feedback', message: 'Add prices' });
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(
      `POST ${pathOf(id)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${rig.keys.alice}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await started.promise;
    socket.resetAndDestroy();
    await until(() => rig.lines.some((line) => line['workflow_id'] === id && line['aborted'] === true));
    go.resolve();
    await until(async () => (await rig.ask(pathOf(id))).json.version === 2);
    expect((await rig.ask(pathOf(id))).json.current_plan).toBe('Saved all the same');
    const types = (await rig.events.read(id, { limit: 10 })).map(({ type }) => type);
    expect(types).toContain('RESEARCH_PLAN_UPDATED');
    rig.llm.reply = () => ({ message: 'Next' });
    let next = await act(id, { action: 'feedback', message: 'More' }, { 'If-Match': '2' });
    await until(async () => {
      // The lock is freed right after the commit that was seen above.
      if (next.status === 409)
        next = await act(id, { action: 'feedback', message: 'More' }, { 'If-Match': '2' });
      return next.status === 200;
    }, 1_000);
  });
});

describe('If-Match', () => {
  const cases = fixture('if-match.json').cases as {
    header: string | null;
    match: boolean;
    current?: number;
    raw?: boolean;
  }[];

  test('P07 every header of the table matches or conflicts, on edit and on approve', async () => {
    for (const { header, match, current = 2, raw } of cases) {
      const id = current === 1 ? await rig.review() : await atVersion2();
      const sent: Record<string, string> =
        header === null ? {} : { 'If-Match': raw ? Buffer.from(header).toString('latin1') : header };
      const edit = await act(id, { action: 'edit', plan: 'Other plan' }, sent);
      const other = current === 1 ? await rig.review() : await atVersion2();
      const approve = await act(other, { action: 'approve' }, sent);
      const expected = match ? 200 : 409;
      expect([header, current, edit.status, approve.status]).toEqual([header, current, expected, expected]);
      if (match) continue;
      expect(edit.json).toMatchObject({ error: 'Conflict: state has been modified', version: current });
      expect(approve.json).toMatchObject({
        error: 'Conflict: plan has been updated. Please review the latest version.',
        version: current,
      });
      expect([edit.headers.etag, approve.headers.etag]).toEqual([`"${current}"`, `"${current}"`]);
    }
  }, 60_000);

  test('require_if_match: a review POST without it is 428, a bad body still comes first', async () => {
    const strict = await startRig({
      redis: rig.redisServer,
      settings: { gateway: { require_if_match: true } },
    });
    try {
      const id = await strict.review();
      const refused = await strict.post(pathOf(id), { action: 'approve' });
      expect([refused.status, refused.json.code]).toEqual([428, 'precondition_required']);
      expect((await strict.post(pathOf(id), { action: 'no' })).status).toBe(400);
      expect((await strict.post(pathOf(id), { action: 'approve' }, { 'If-Match': '*' })).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});

describe('actions', () => {
  test('P19 an unknown, empty or missing action is 400 and changes nothing', async () => {
    const id = await rig.review();
    for (const action of ['', null, 'APPROVE', 'accept', 0, {}, [], 'approve ', undefined, true]) {
      const answer = await act(id, { action });
      expect([answer.status, answer.json]).toEqual([
        400,
        { error: "action must be 'feedback' or 'approve'", code: 'invalid_action' },
      ]);
    }
    expect((await rig.ask(pathOf(id))).json).toMatchObject({ status: 'reviewing', version: 1 });
  });

  test('a body that is no JSON object is 400, another type 415, a large one 413', async () => {
    const id = await rig.review();
    for (const raw of ['', '[]', '"x"', 'null', '{', 'action=approve']) {
      const answer = await rig.ask(pathOf(id), { method: 'POST', raw });
      expect([raw, answer.status, answer.json.error]).toEqual([raw, 400, 'Invalid request body']);
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await act(id, { action: 'approve' }, form)).status).toBe(415);
    expect((await act(id, { action: 'edit', plan: 'x'.repeat(300_000) })).status).toBe(413);
    expect((await rig.ask(pathOf(id))).json.version).toBe(1);
  });

  test('the fields of the additive actions are checked with their texts', async () => {
    const id = await rig.review();
    const texts = async (body: unknown) => {
      const { status, json } = await act(id, body);
      return [status, json.error, json.code];
    };
    expect(await texts({ action: 'edit' })).toEqual([400, 'plan is required for edit', 'plan_required']);
    expect(await texts({ action: 'edit', plan: ' \u3000' })).toEqual([
      400,
      'plan is required for edit',
      'plan_required',
    ]);
    expect(await texts({ action: 'edit', plan: 'a'.repeat(65_537) })).toEqual([
      400,
      'plan exceeds maximum length (64KB)',
      'plan_too_long',
    ]);
    expect(await texts({ action: 'reject', reason: 'a'.repeat(2_001) })).toEqual([
      400,
      'reason exceeds maximum length (2000 characters)',
      'reason_too_long',
    ]);
    for (const seconds of [0, -1, 1.5, '60', null, 2_592_001, undefined]) {
      expect(await texts({ action: 'extend', seconds })).toEqual([
        400,
        'seconds must be an integer between 1 and 2592000',
        'invalid_seconds',
      ]);
    }
    expect(await texts({ action: 'extend', seconds: 2_592_000 })).toEqual([
      400,
      'deadline is more than 30 days away',
      'deadline_too_far',
    ]);
  });

  test('edit and extend answer the body of GET; feedback revises the edited text', async () => {
    const id = await rig.review();
    const edited = await act(id, { action: 'edit', plan: 'My own plan' });
    expect(edited.json).toEqual((await rig.ask(pathOf(id))).json);
    expect(edited.json).toMatchObject({ current_plan: 'My own plan', version: 2, round: 1, intent: 'ready' });
    const before = Date.parse(edited.json.expires_at);
    const extended = await act(id, { action: 'extend', seconds: 60 });
    expect([Date.parse(extended.json.expires_at) - before, extended.headers.etag]).toEqual([60_000, '"3"']);
    await act(id, { action: 'feedback', message: 'Shorter' });
    expect(rig.llm.requests[0]?.current_plan).toBe('My own plan');
  });

  test('a question of the model is no plan: approve is 400 until there is one', async () => {
    const id = await rig.review({ message: 'Which region?', intent: 'feedback', plan: null });
    const refused = await act(id, { action: 'approve' });
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'No research plan to approve. Please provide feedback to generate a plan first.',
    ]);
  });

  test('P17 the identity of a decision is the credential, whatever the body says', async () => {
    const id = await rig.review();
    expect((await act(id, { action: 'approve', approved_by: 'root', by: 'root', user: 'root' })).status).toBe(
      200,
    );
    expect((await rig.ask(pathOf(id))).json.decision).toMatchObject({ action: 'approve', by: 'alice' });
  });

  test('P78 100 approves at once make one decision, and all are answered 200', async () => {
    const id = await rig.review();
    const answers = await Promise.all(Array.from({ length: 100 }, () => act(id, { action: 'approve' })));
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(answers.every(({ headers }) => headers.etag === '"2"')).toBe(true);
    expect((await rig.ask(pathOf(id))).json.version).toBe(2);
  });

  test('approved is final: feedback, edit, reject and extend are 409, approve again is 200 whatever If-Match says', async () => {
    const id = await rig.review();
    const first = await act(id, { action: 'approve' });
    // No engine here: the decision is recorded and delivered later.
    expect(first.json).toEqual({
      status: 'approved',
      message: 'Approval recorded; research starts when the task engine is back',
    });
    const again = await act(id, { action: 'approve' }, { 'If-Match': '"1"' });
    expect([again.status, again.headers.etag, again.json.status]).toEqual([200, '"2"', 'approved']);
    for (const body of [
      { action: 'feedback', message: 'x' },
      { action: 'edit', plan: 'x' },
      { action: 'reject' },
      { action: 'extend', seconds: 1 },
    ]) {
      const refused = await act(id, body);
      expect([refused.status, refused.json.error, refused.headers.etag]).toEqual([
        409,
        'Review already approved',
        '"2"',
      ]);
    }
  });

  test('rejected is final: again is 200, everything else 409', async () => {
    const id = await rig.review();
    const rejected = await act(id, { action: 'reject', reason: 'Not now' });
    expect(rejected.json).toMatchObject({ status: 'rejected', decision: { reason: 'Not now', by: 'alice' } });
    expect((await act(id, { action: 'reject' }, { 'If-Match': '"9"' })).status).toBe(200);
    const approve = await act(id, { action: 'approve' });
    expect([approve.status, approve.json.error]).toEqual([409, 'Review is closed: rejected']);
  });
});
