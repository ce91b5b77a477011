import { describe, expect, test } from 'vitest';
import { ReviewedChatUseCase } from '../src/agent/index.ts';
import { STEP_LIMIT_MESSAGE } from '../src/index.ts';
import { email, rig, weather } from './rig.ts';

const tireless = () => ({ content: 'Let me look.', tool_calls: [weather()] });

/** Model calls at steps 1, 4, 7, …: the last one is the first that leaves three steps or fewer. */
const CALLS: [limit: number, models: number, tools: number][] = [
  [1, 1, 0],
  [4, 1, 0],
  [5, 2, 1],
  [7, 2, 1],
  [8, 3, 2],
  [9, 3, 2],
  [25, 8, 7],
];

describe('the step limit ends a turn whose model never stops calling', () => {
  test.each(CALLS)(
    'limit %i: %i model calls, %i tool runs, then the fixed answer',
    async (limit, models, tools) => {
      const { agent, runs, requests, state } = rig(Array.from({ length: 40 }, tireless));
      const turn = await new ReviewedChatUseCase(agent, limit).sendMessage('go', 'thread');
      expect(turn).toEqual({ answer: STEP_LIMIT_MESSAGE, pendingReview: null });
      expect([requests.length, runs.length]).toEqual([models, tools]);
      expect((await state()).values.messages.at(-1)).toEqual({
        role: 'assistant',
        content: STEP_LIMIT_MESSAGE,
        tool_calls: [],
      });
    },
  );

  test('without a limit it is 25', async () => {
    const { say, requests } = rig(Array.from({ length: 40 }, tireless));
    await say('go');
    expect(requests).toHaveLength(8);
  });

  test('a model that stops in time is not cut short', async () => {
    const { say } = rig([tireless()]);
    expect((await say('go', 5)).messages.at(-1)).toMatchObject({ content: 'Done.' });
  });

  // The review is the first step of a review call: tools 2, model 3, review 4, tools 5, model 6.
  test.each([
    [6, 1],
    [7, 2],
    [9, 2],
    [10, 3],
  ])(
    'steps count anew in a review call: with limit %i its model is asked %i times',
    async (limit, models) => {
      const { say, decide, requests } = rig([
        { tool_calls: [email()] },
        ...Array.from({ length: 40 }, tireless),
      ]);
      await say('go', 5);
      await decide([{ type: 'approve' }], limit);
      expect(requests).toHaveLength(1 + models);
    },
  );

  test('P69 a model that asks again after each rejection is ended by the limit of the call', async () => {
    const { say, decide, runs } = rig(Array.from({ length: 40 }, () => ({ tool_calls: [email()] })));
    await say('go');
    expect((await decide([{ type: 'reject' }], 6)).__interrupt__).toHaveLength(1);
    const last = await decide([{ type: 'reject' }], 5);
    expect(last.__interrupt__).toBeUndefined();
    expect(last.messages.at(-1)).toMatchObject({ content: STEP_LIMIT_MESSAGE });
    expect(runs).toEqual([]);
  });

  test.each([0, -1, 1.5, Number.NaN])('a limit of %s is refused and nothing changes', async (limit) => {
    const { agent, state } = rig([]);
    const config = { configurable: { thread_id: 'thread' }, recursionLimit: limit };
    await expect(agent.invoke({ messages: ['go'] }, config)).rejects.toThrow('a limit of steps');
    expect((await state()).values.messages).toEqual([]);
  });
});
