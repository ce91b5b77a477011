import { describe, expect, test } from 'vitest';
import {
  Command,
  type HumanInTheLoopAgent,
  MemoryCheckpointer,
  ReviewedChatUseCase,
} from '../src/agent/index.ts';
import {
  applyDecisions,
  canonicalJson,
  checkDecisions,
  claimCall,
  type Gate,
  newThread,
  nextStep,
  receiveMessage,
  receiveReply,
  recordInterruption,
  recordResult,
  refusalOf,
  StaleReviewError,
  type ThreadState,
} from '../src/index.ts';
import { readThreadState, UnreadableStateError } from '../src/state/read.ts';
import { EMAIL, email, rig, weather } from './rig.ts';

function gate(): Gate {
  let ids = 0;
  return { isGated: (tool) => tool === 'send_email', newId: () => `id${++ids}` };
}

function waiting(): ThreadState {
  const asked = receiveMessage(newThread(), 'go', 25);
  return receiveReply(
    asked,
    { tool_calls: [weather('x', 'w'), email(EMAIL, 'a'), email(EMAIL, 'b')] },
    gate(),
  );
}

function approved(): ThreadState {
  const state = waiting();
  return applyDecisions(state, checkDecisions(state, [{ type: 'approve' }, { type: 'reject' }]), 25);
}

describe('the core', () => {
  test('is driven by nextStep alone: model, person, calls one by one, model, end', () => {
    let state = receiveMessage(newThread(), 'go', 25);
    expect(nextStep(state)).toEqual({ do: 'call_model' });
    state = waiting();
    expect(nextStep(state)).toMatchObject({ do: 'ask_person', review: { calls: [1, 2] } });
    state = approved();
    for (const [index, id] of [
      [0, 'w'],
      [1, 'a'],
    ] as const) {
      expect(nextStep(state)).toMatchObject({ do: 'run_call', index, order: { call: { id } } });
      state = recordResult(claimCall(state, index), index, { content: 'ok', status: 'success' });
    }
    expect(nextStep(state)).toEqual({ do: 'call_model' });
    state = receiveReply(state, { content: 'Bye.' }, gate());
    expect(nextStep(state)).toEqual({ do: 'end', answer: 'Bye.', failed: null });
  });

  test('changes no state that it is given', () => {
    const state = waiting();
    const before = structuredClone(state);
    applyDecisions(
      state,
      checkDecisions(state, [{ type: 'edit', edited_action: { name: 'x', args: {} } }, { type: 'reject' }]),
      9,
    );
    expect(state).toEqual(before);
  });

  test('every state on the way is plain JSON and is read back the same', () => {
    const states = [
      newThread(),
      receiveMessage(newThread(), 'go', 3),
      waiting(),
      approved(),
      claimCall(approved(), 0),
    ];
    for (const state of states) expect(readThreadState(JSON.stringify(state))).toStrictEqual(state);
  });

  test('a call is claimed once and answered once', () => {
    const claimed = claimCall(approved(), 0);
    expect(() => claimCall(claimed, 0)).toThrow('cannot become claimed');
    const done = recordResult(claimed, 0, { content: '', status: 'success' });
    expect(() => recordResult(done, 0, { content: '', status: 'success' })).toThrow('cannot become done');
    expect(() => claimCall(done, 0)).toThrow('cannot become claimed');
  });

  test('a rejected call is never run: it has its result', () => {
    expect(() => claimCall(approved(), 2)).toThrow('cannot become claimed');
  });

  test('H17 a claimed call without a result is interrupted, never run again, and not called rejected', () => {
    const claimed = claimCall(approved(), 0);
    expect(nextStep(claimed)).toEqual({ do: 'settle_interrupted', index: 0 });
    const settled = recordInterruption(claimed, 0);
    expect(settled.messages.at(-1)).toMatchObject({
      content: 'Error: get_weather was interrupted; it is unknown whether it ran.',
      status: 'error',
    });
    expect(nextStep(settled)).toMatchObject({ do: 'run_call', index: 1 });
  });

  test.each([
    ['gated, undecided', true, null, true],
    ['gated, rejected', true, 'reject', true],
    ['gated, approved', true, 'approve', false],
    ['gated, edited', true, 'edit', false],
    ['free', false, null, false],
    ['free, yet rejected', false, 'reject', true],
  ] as const)('the executor’s gate: a call that is %s', (_, gated, decision, refused) => {
    const order = { call: { id: 'a', name: 'send_email', args: EMAIL }, gated, decision };
    expect(refusalOf(order, false) !== null).toBe(refused);
  });

  test('the executor refuses a call that only its own settings gate', () => {
    const order = { call: { id: 'a', name: 'send_email', args: EMAIL }, gated: false, decision: null };
    expect(refusalOf(order, true)).toBe(
      'Error: send_email needs an approval that was not recorded. It was not executed.',
    );
  });

  test('P87 decisions are not applied to a call that differs from what was shown', () => {
    const state = waiting();
    const call = state.messages[1]?.role === 'assistant' && state.messages[1].tool_calls[1];
    if (call) call.args = { ...EMAIL, to: 'mallory@example.com' };
    const decisions = checkDecisions(state, [{ type: 'approve' }, { type: 'approve' }]);
    expect(() => applyDecisions(state, decisions, 25)).toThrow('differs from the action that was shown');
  });

  test('canonical JSON has its keys in order and keeps every own key', () => {
    const value = JSON.parse('{"b":1,"a":[{"d":null,"c":"\\u2028"}],"__proto__":{"x":1}}');
    expect(canonicalJson(value)).toBe('{"__proto__":{"x":1},"a":[{"c":"\u2028","d":null}],"b":1}');
  });
});

describe('P73 a kept state is checked when it is read', () => {
  const tampered: [string, (state: ThreadState) => unknown][] = [
    ['another version', (s) => Object.assign(s, { version: 2 })],
    ['no version', (s) => Object.assign(s, { version: undefined })],
    ['an unknown field', (s) => Object.assign(s, { more: 1 })],
    ['an unknown phase', (s) => Object.assign(s, { phase: 'paused' })],
    ['a review gone', (s) => Object.assign(s, { review: null })],
    [
      'a review that shows other arguments',
      (s) => Object.assign(s.review?.request.action_requests[0]?.args ?? {}, { to: 'x' }),
    ],
    [
      'a review that shows another tool',
      (s) => Object.assign(s.review?.request.action_requests[0] ?? {}, { name: 'x' }),
    ],
    ['a review of other calls', (s) => s.review?.calls.reverse()],
    ['a review of fewer calls', (s) => s.review?.calls.pop()],
    ['a gate that was taken away', (s) => Object.assign(s.calls[1] ?? {}, { gated: false })],
    ['a call that is done without a result', (s) => Object.assign(s.calls[0] ?? {}, { progress: 'done' })],
    [
      'a call that is claimed during the review',
      (s) => Object.assign(s.calls[0] ?? {}, { progress: 'claimed' }),
    ],
    ['a phase that skips the review', (s) => Object.assign(s, { phase: 'tools', review: null })],
    ['a phase that leaves calls unanswered', (s) => Object.assign(s, { phase: 'model', review: null })],
    [
      'a result of no call',
      (s) => s.messages.push({ role: 'tool', content: '', name: 'x', tool_call_id: 'z', status: 'success' }),
    ],
    [
      'an id twice',
      (s) =>
        s.messages[1]?.role === 'assistant' && Object.assign(s.messages[1].tool_calls[1] ?? {}, { id: 'w' }),
    ],
    ['a message missing', (s) => s.messages.pop()],
  ];

  test.each(tampered)('%s: refused', (_, tamper) => {
    const state = waiting();
    tamper(state);
    expect(() => readThreadState(JSON.stringify(state))).toThrow(UnreadableStateError);
  });

  test.each(['', 'null', '[]', '{}', 'not json'])('%j is no state', (text) => {
    expect(() => readThreadState(text)).toThrow(UnreadableStateError);
  });

  test('a gated call that lost its decision is not run', () => {
    const state = approved();
    Object.assign(state.calls[1] ?? {}, { decision: null });
    expect(() => readThreadState(state)).toThrow('a gated call without a decision');
  });

  test('an agent fails closed: nothing runs, and nothing is written over it', async () => {
    const checkpointer = new MemoryCheckpointer();
    const { say, decide, state, runs } = rig([{ tool_calls: [email()] }], { checkpointer });
    await say('go');
    const kept = (await checkpointer.load('thread'))!;
    const tamperedText = kept.state.replaceAll('"gated":true', '"gated":false');
    await checkpointer.save('thread', {
      expected: kept.revision,
      revision: 'x',
      state: tamperedText,
      holdMs: 0,
    });
    await expect(decide([{ type: 'approve' }])).rejects.toThrow(UnreadableStateError);
    await expect(say('hello')).rejects.toThrow(UnreadableStateError);
    await expect(state()).rejects.toThrow(UnreadableStateError);
    expect(runs).toEqual([]);
    expect((await checkpointer.load('thread'))?.state).toBe(tamperedText);
  });
});

describe('answers to a review', () => {
  test('H07 a second answer to a consumed review is refused, and the next review is not answered by it', async () => {
    const { agent, say, decide, runs, state } = rig([{ tool_calls: [email()] }, { tool_calls: [email()] }]);
    const [shown] = (await say('go')).__interrupt__ ?? [];
    const answer = () =>
      agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] }, reviewId: shown?.id ?? '' }), {
        configurable: { thread_id: 'thread' },
      });
    await answer();
    await expect(answer()).rejects.toThrow('Review ini sudah tidak berlaku');
    expect(runs).toHaveLength(1);
    expect((await state()).interrupts).toHaveLength(1);
    await decide([{ type: 'approve' }]);
    await expect(answer()).rejects.toThrow('Tidak ada aksi yang menunggu persetujuan di percakapan ini');
    expect(runs).toHaveLength(2);
  });

  /** An agent in whose thread something happens between the look at it and the answer. */
  function overtaken(agent: HumanInTheLoopAgent, meanwhile: () => Promise<unknown>): ReviewedChatUseCase {
    const getState: HumanInTheLoopAgent['getState'] = async (config) => {
      const seen = await agent.getState(config);
      await meanwhile();
      return seen;
    };
    return new ReviewedChatUseCase({ invoke: agent.invoke, getState });
  }

  test('H07 an answer that another one overtook does not answer the next review', async () => {
    const { agent, say, decide, runs, state } = rig([{ tool_calls: [email()] }, { tool_calls: [email()] }]);
    await say('go');
    const chat = overtaken(agent, () => decide([{ type: 'reject' }]));
    await expect(chat.submitReview([{ type: 'approve' }], 'thread')).rejects.toThrow(StaleReviewError);
    expect(runs).toEqual([]);
    expect((await state()).interrupts).toHaveLength(1);
  });

  test('H07 an answer to nothing does not answer a review that comes up meanwhile', async () => {
    const { agent, say, runs, state } = rig([{ tool_calls: [email(), email()] }]);
    const chat = overtaken(agent, () => say('go'));
    await expect(chat.submitReview([{ type: 'approve' }], 'thread')).rejects.toThrow(StaleReviewError);
    expect(runs).toEqual([]);
    expect((await state()).interrupts).toHaveLength(1);
  });

  test('H14 the pending review can be read again, as often as wanted', async () => {
    const { say, state } = rig([{ tool_calls: [email()] }]);
    const { __interrupt__ } = await say('go');
    expect((await state()).interrupts).toEqual(__interrupt__);
    expect((await state()).interrupts).toEqual(__interrupt__);
  });

  test('an unknown thread is empty', async () => {
    expect(await rig([]).state()).toEqual({ values: { messages: [] }, next: [], tasks: [], interrupts: [] });
  });
});
