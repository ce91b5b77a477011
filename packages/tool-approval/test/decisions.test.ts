import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Command, ReviewedChatUseCase } from '../src/agent/index.ts';
import {
  type DomainError,
  EmptyMessageError,
  InvalidReviewDecisionError,
  NO_DECISION,
  NoPendingReviewError,
  REJECTED_BY_USER_MESSAGE,
  ReviewPendingError,
  STEP_LIMIT_MESSAGE,
  validateDecisions,
} from '../src/index.ts';
import { EMAIL, email, OTHER, rig } from './rig.ts';

interface Case {
  decisions: unknown;
  status: number;
  detail?: string;
  runs?: number;
  tool_result?: string;
  tool_result_names?: string[];
}

// Parsed here: a bundler's import would lose the field `__proto__` of a case.
const { cases } = JSON.parse(
  readFileSync(new URL('./fixtures/tool-approval-requests.json', import.meta.url), 'utf8'),
) as { cases: Case[] };

const PENDING = {
  action_requests: [{ name: 'send_email', args: EMAIL, description: '' }],
  review_configs: [{ action_name: 'send_email', allowed_decisions: ['approve' as const] }],
};

/** What HTTP refuses by the body's shape, and direct use does not look at: fields of another type of decision. */
function ignoredInDirectUse({ decisions }: Case): boolean {
  return JSON.stringify(decisions) === '[{"type":"approve","edited_action":{"name":1}},{"type":"approve"}]';
}

async function twoPending() {
  const parts = rig([{ tool_calls: [email(), email(OTHER)] }]);
  const chat = new ReviewedChatUseCase(parts.agent);
  await chat.sendMessage('mail both', 'thread');
  return { ...parts, chat };
}

describe('every case of two pending actions, through submitReview', () => {
  for (const given of cases) {
    const accepted = given.status === 200 || ignoredInDirectUse(given);
    test(`${JSON.stringify(given.decisions)} is ${accepted ? 'accepted' : 'refused, and changes nothing (H09)'}`, async () => {
      const { chat, runs, state } = await twoPending();
      const before = await state();
      if (!accepted) {
        const refusal = chat.submitReview(given.decisions, 'thread');
        await expect(refusal).rejects.toThrow(InvalidReviewDecisionError);
        if (given.detail) await expect(refusal).rejects.toThrow(given.detail);
        expect(await state()).toEqual(before);
        expect(runs).toEqual([]);
        await chat.submitReview([{ type: 'approve' }, { type: 'reject' }], 'thread');
        expect(runs).toHaveLength(1);
        return;
      }
      const turn = await chat.submitReview(given.decisions, 'thread');
      expect(turn).toEqual({ answer: 'Done.', pendingReview: null });
      expect(runs).toHaveLength(given.runs ?? 2);
      const results = (await state()).values.messages.flatMap((m) => (m.role === 'tool' ? [m.content] : []));
      expect(results).toHaveLength(2);
      if (given.tool_result) expect(results).toContain(given.tool_result);
      for (const name of given.tool_result_names ?? []) {
        expect(results.find((text) => text.startsWith('Error: invalid arguments'))).toContain(`${name}: `);
      }
    });
  }
});

describe('texts of refusals', () => {
  const refusal = (decisions: unknown, pending: typeof PENDING | null = PENDING): DomainError => {
    try {
      validateDecisions(decisions, pending);
    } catch (error) {
      return error as DomainError;
    }
    throw new Error('accepted');
  };
  const UNKNOWN = (type: string) =>
    `Jenis keputusan '${type}' tidak dikenal. Pilihan: ['approve', 'edit', 'reject']`;

  test.each([
    ['an unknown type', { type: 'postpone' }, UNKNOWN('postpone')],
    ['another case', { type: 'Approve' }, UNKNOWN('Approve')],
    ['no type', {}, UNKNOWN('None')],
    ['null as type', { type: null }, UNKNOWN('None')],
    ['true as type', { type: true }, UNKNOWN('True')],
    ['a number as type', { type: 5 }, UNKNOWN('5')],
    ['a list as type', { type: ['a', null] }, UNKNOWN("['a', None]")],
    ['an object as type', { type: { a: 'b' } }, UNKNOWN("{'a': 'b'}")],
    ['a text instead of a decision', 'approve', UNKNOWN('None')],
    ['null instead of a decision', null, UNKNOWN('None')],
    ['a list instead of a decision', [], UNKNOWN('None')],
    ['an edit without action', { type: 'edit' }, "Keputusan 'edit' wajib menyertakan 'edited_action'"],
    [
      'null as action',
      { type: 'edit', edited_action: null },
      "Keputusan 'edit' wajib menyertakan 'edited_action'",
    ],
    ...[
      {},
      'x',
      [],
      { name: 1, args: {} },
      { name: 'a' },
      { args: {} },
      { name: 'a', args: [] },
      { name: 'a', args: null },
      { name: 'a', args: 'b' },
    ].map((action): [string, unknown, string] => [
      `the action ${JSON.stringify(action)}`,
      { type: 'edit', edited_action: action },
      "'edited_action' harus berisi 'name' (teks) dan 'args' (objek)",
    ]),
    ['a message that is no text', { type: 'reject', message: 5 }, "'message' harus berupa teks"],
  ])('%s', (_, decision, text) => {
    const error = refusal([decision]);
    expect(error).toBeInstanceOf(InvalidReviewDecisionError);
    expect(error.message).toBe(text);
  });

  test.each([
    [0, []],
    [2, [{ type: 'approve' }, { type: 'approve' }]],
    [0, undefined],
    [0, { 0: {} }],
  ])('P58 H03 the number is checked before any decision: %s given', (given, decisions) => {
    expect(refusal(decisions).message).toBe(`Butuh 1 keputusan (satu per aksi), diterima ${given}`);
  });

  test('the order is: is there a review, the number, then each decision; the first fault wins', () => {
    expect(refusal('nonsense', null)).toBeInstanceOf(NoPendingReviewError);
    expect(refusal([{ type: 'x' }, { type: 'y' }]).message).toMatch(/^Butuh 1/);
    const two = {
      action_requests: [PENDING.action_requests[0]!, PENDING.action_requests[0]!],
      review_configs: [],
    };
    expect(refusal([{ type: 'edit' }, { type: 'x' }], two).message).toMatch(/^Keputusan 'edit'/);
    expect(refusal([{ type: 'x', edited_action: 1 }, { type: 'edit' }], two).message).toBe(UNKNOWN('x'));
  });

  test('the constants are those of the contract', () => {
    expect(REJECTED_BY_USER_MESSAGE).toBe('User rejected this action. It was not executed.');
    expect(NO_DECISION).toEqual({
      type: 'reject',
      message: 'No decision was given for this action. It was not executed.',
    });
    expect(STEP_LIMIT_MESSAGE).toBe(
      'Maaf, saya butuh lebih banyak langkah untuk menyelesaikan permintaan ini.',
    );
  });
});

describe('rules of a conversation', () => {
  test.each(['', ' ', '\u200b\n', 5, null, undefined])('a blank message is refused: %j', async (message) => {
    const { agent, state } = rig([]);
    const refusal = new ReviewedChatUseCase(agent).sendMessage(message as string, 'thread');
    await expect(refusal).rejects.toThrow(EmptyMessageError);
    await expect(refusal).rejects.toThrow('Message tidak boleh kosong');
    expect((await state()).values.messages).toEqual([]);
  });

  test('a blank message is refused before the pending review is looked at', async () => {
    const { chat } = await twoPending();
    await expect(chat.sendMessage(' ', 'thread')).rejects.toThrow(EmptyMessageError);
  });

  test.each(['thread', 'unknown', ''])(
    'nothing pending in thread "%s": NoPendingReviewError',
    async (thread) => {
      const { agent, say } = rig([]);
      await say('hello');
      const refusal = new ReviewedChatUseCase(agent).submitReview([{ type: 'approve' }], thread);
      await expect(refusal).rejects.toThrow(NoPendingReviewError);
      await expect(refusal).rejects.toThrow('Tidak ada aksi yang menunggu persetujuan di percakapan ini');
    },
  );

  test('H10 a message on a waiting thread is refused by both faces, and the review stays', async () => {
    const { chat, say, state, decide, runs, requests } = await twoPending();
    const before = await state();
    const refusal = chat.sendMessage('forget it', 'thread');
    await expect(refusal).rejects.toThrow(ReviewPendingError);
    await expect(refusal).rejects.toThrow(
      'Masih ada aksi yang menunggu persetujuan. Kirim keputusannya dulu.',
    );
    await expect(say('forget it')).rejects.toThrow(ReviewPendingError);
    expect(await state()).toEqual(before);
    expect(requests).toHaveLength(1);
    await decide([{ type: 'approve' }, { type: 'approve' }]);
    expect(runs).toHaveLength(2);
  });
});

describe('a direct resume', () => {
  const missing = 'No decision was given for this action. It was not executed.';

  test('P58 fewer decisions than actions: the rest is NO_DECISION', async () => {
    const { decide, runs, state } = await twoPending();
    await decide([{ type: 'approve' }]);
    expect(runs.map(({ args }) => args)).toEqual([EMAIL]);
    const results = (await state()).values.messages.filter(({ role }) => role === 'tool');
    expect(results).toMatchObject([
      { content: missing, status: 'error' },
      { content: 'Sent to alice@example.com.', status: 'success' },
    ]);
  });

  test('no decision at all: nothing runs', async () => {
    const { decide, runs, requests } = await twoPending();
    await decide([]);
    expect(runs).toEqual([]);
    expect(requests[1]?.messages.slice(-2)).toMatchObject([{ content: missing }, { content: missing }]);
  });

  test('surplus decisions are ignored, whatever they are', async () => {
    const { decide, runs } = await twoPending();
    await decide([{ type: 'reject' }, { type: 'approve' }, { type: 'nonsense' }]);
    expect(runs.map(({ args }) => args)).toEqual([OTHER]);
  });

  test('the value may be JSON text', async () => {
    const { agent, runs } = await twoPending();
    const resume = JSON.stringify({ decisions: [{ type: 'approve' }, { type: 'approve' }] });
    await agent.invoke(new Command({ resume }), { configurable: { thread_id: 'thread' } });
    expect(runs).toHaveLength(2);
  });

  test.each([
    ['broken text', '{'],
    ['a list', []],
    ['nothing', undefined],
    ['no list', { decisions: 1 }],
    ['a bad decision', { decisions: ['approve'] }],
    ['a hole', { decisions: new Array(2) }],
  ])('H09 %s is refused and the right answer works afterwards', async (_, resume) => {
    const { agent, decide, runs, state } = await twoPending();
    const before = await state();
    const refusal = agent.invoke(new Command({ resume }), { configurable: { thread_id: 'thread' } });
    await expect(refusal).rejects.toThrow(InvalidReviewDecisionError);
    expect(await state()).toEqual(before);
    await decide([{ type: 'approve' }, { type: 'approve' }]);
    expect(runs).toHaveLength(2);
  });

  test('with nothing pending: NoPendingReviewError', async () => {
    const { say, decide } = rig([]);
    await say('hello');
    await expect(decide([{ type: 'approve' }])).rejects.toThrow(NoPendingReviewError);
  });
});
