import { describe, expect, test } from 'vitest';
import { ReviewedChatUseCase } from '../src/agent/index.ts';
import { ALLOWED_DECISIONS, buildReviewRequest } from '../src/index.ts';
import { EMAIL, email, rig, weather } from './rig.ts';

const ONE = {
  action_requests: [
    { name: 'send_email', args: EMAIL, description: 'Tool `send_email` menunggu persetujuan' },
  ],
  review_configs: [{ action_name: 'send_email', allowed_decisions: ['approve', 'edit', 'reject'] }],
};

describe('payload pending_review', () => {
  test('the payload of one action is the documented one, to the letter', () => {
    expect(buildReviewRequest([{ name: 'send_email', args: EMAIL }])).toStrictEqual(ONE);
  });

  test('only gated calls are listed, in the order of the calls, each with its review config', async () => {
    const other = { ...EMAIL, to: 'bob@example.com' };
    const { say } = rig([{ tool_calls: [weather(), email(), weather('Bogor'), email(other)] }]);
    const value = (await say('mail both')).__interrupt__?.[0].value;
    expect(value?.action_requests.map(({ args }) => args)).toEqual([EMAIL, other]);
    expect(value?.review_configs).toEqual([ONE.review_configs[0], ONE.review_configs[0]]);
  });

  test('the same payload stands in __interrupt__, in getState and in ChatTurn', async () => {
    const { agent, say, state } = rig([{ tool_calls: [email()] }, { tool_calls: [email()] }]);
    expect((await say('mail')).__interrupt__?.[0].value).toEqual(ONE);
    const snapshot = await state();
    expect(snapshot.next).toEqual(['human_review']);
    expect(snapshot.interrupts).toEqual([{ id: expect.any(String), value: ONE }]);
    expect(snapshot.tasks).toEqual([{ name: 'human_review', interrupts: snapshot.interrupts }]);
    const turn = await new ReviewedChatUseCase(agent).sendMessage('mail', 'another thread');
    expect(turn).toEqual({ answer: null, pendingReview: ONE });
  });

  test('the payload is plain JSON: what JSON cannot say is not shown and does not run', async () => {
    const args = { ...EMAIL, body: undefined, at: new Date(0), nothing: null };
    const { say } = rig([{ tool_calls: [email(JSON.parse(JSON.stringify(args)))] }]);
    const value = (await say('mail')).__interrupt__?.[0].value;
    expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
    expect(value?.action_requests[0]?.args).toStrictEqual({
      to: EMAIL.to,
      subject: EMAIL.subject,
      at: '1970-01-01T00:00:00.000Z',
      nothing: null,
    });
  });

  test('what a caller does to the payload it was given changes nothing of what runs', async () => {
    const { say, decide, runs } = rig([{ tool_calls: [email()] }]);
    const shown = (await say('mail')).__interrupt__?.[0].value.action_requests[0];
    if (shown) shown.args['to'] = 'mallory@example.com';
    await decide([{ type: 'approve' }]);
    expect(runs[0]?.args).toEqual(EMAIL);
  });

  test('the allowed decisions cannot be changed by anybody', () => {
    expect(ALLOWED_DECISIONS).toEqual(['approve', 'edit', 'reject']);
    expect(Object.isFrozen(ALLOWED_DECISIONS)).toBe(true);
  });
});
