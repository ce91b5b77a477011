import { describe, expect, test } from 'vitest';
import { MemoryCheckpointer } from '../src/agent/index.ts';
import { approve, EMAIL, email, OTHER, paused, reject, rig, weather } from './rig.ts';

describe('calls of one turn', () => {
  test('P65 H01 [reject, approve]: exactly one runs, and each has one result before the model is asked', async () => {
    const { decide, runs, requests } = await paused({ tool_calls: [email(EMAIL, 'a'), email(OTHER, 'b')] });
    await decide([reject('Not this one'), approve]);
    expect(runs.map(({ args }) => args)).toEqual([OTHER]);
    const ids = requests[1]?.messages.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : []));
    expect(ids).toEqual(['a', 'b']);
  });

  test('ungated siblings run even when everything else is rejected', async () => {
    const { decide, runs, nodes } = await paused({ tool_calls: [weather(), email(), weather('Bogor')] });
    await decide([reject()]);
    expect(runs.map(({ tool, args }) => [tool, args])).toEqual([
      ['get_weather', { location: 'Jakarta' }],
      ['get_weather', { location: 'Bogor' }],
    ]);
    expect(nodes).toEqual(['human_review', 'tool_node', 'llm_call']);
  });

  test('P61 nothing runs before the decision, ungated siblings neither', async () => {
    const { runs, decide } = await paused({ tool_calls: [weather(), email()] });
    expect(runs).toEqual([]);
    await decide([approve]);
    expect(runs.map(({ tool }) => tool)).toEqual(['get_weather', 'send_email']);
  });

  test('calls run one at a time, in the order of the model’s message', async () => {
    const log: string[] = [];
    const { say, decide } = rig([{ tool_calls: [email(EMAIL, 'a'), weather('x', 'b'), email(OTHER, 'c')] }], {
      onRun: async ({ callId }) => {
        log.push(`begin ${callId}`);
        await new Promise(setImmediate);
        log.push(`end ${callId}`);
      },
    });
    await say('go');
    await decide([approve, approve]);
    expect(log).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']);
  });

  test.each([
    ['missing', null, undefined],
    ['repeated', 'same', 'same'],
    ['empty', '', ''],
  ])('H02 %s ids are made unique on arrival, and decisions pair by place', async (_, first, second) => {
    const { decide, runs, requests } = await paused({
      tool_calls: [email(EMAIL, first), email(OTHER, second ?? null)],
    });
    await decide([reject('no'), approve]);
    expect(runs.map(({ args }) => args)).toEqual([OTHER]);
    const [call, other] =
      requests[1]?.messages.flatMap((m) => (m.role === 'assistant' ? m.tool_calls : [])) ?? [];
    expect(call?.id).not.toBe(other?.id);
    expect(requests[1]?.messages.slice(2)).toMatchObject([
      { tool_call_id: call?.id, content: 'no' },
      { tool_call_id: other?.id, status: 'success' },
    ]);
  });

  test('H02 an id that an earlier turn has used is made another one', async () => {
    const { decide, runs } = await paused(
      { tool_calls: [email(EMAIL, 'c')] },
      { tool_calls: [email(OTHER, 'c')] },
    );
    await decide([approve]);
    await decide([approve]);
    expect(new Set(runs.map(({ callId }) => callId)).size).toBe(2);
  });

  test('H13 three reviews in a row within one turn are each shown', async () => {
    const third = { ...EMAIL, to: 'carol@example.com' };
    const { decide, runs } = await paused(
      { tool_calls: [email()] },
      { tool_calls: [email(OTHER)] },
      { tool_calls: [email(third)] },
    );
    const shown = async () => (await decide([approve])).__interrupt__?.[0].value.action_requests[0]?.args;
    expect([await shown(), await shown(), await shown()]).toEqual([OTHER, third, undefined]);
    expect(runs.map(({ args }) => args)).toEqual([EMAIL, OTHER, third]);
  });

  test('which calls are gated is fixed when the review is made', async () => {
    const checkpointer = new MemoryCheckpointer();
    const { say } = rig([{ tool_calls: [email()] }], { checkpointer });
    await say('go');
    const later = rig([], { checkpointer, toolsRequiringApproval: [] });
    expect((await later.state()).interrupts).toHaveLength(1);
    await expect(later.say('and?')).rejects.toThrow('Masih ada aksi');
    await later.decide([reject()]);
    expect(later.runs).toEqual([]);
  });

  test('a call of a tool that does not exist is answered without a review', async () => {
    const { say, runs, requests } = rig([{ tool_calls: [{ name: 'fly', args: {} }] }]);
    await say('go');
    expect(runs).toEqual([]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      content: "Error: fly is not a valid tool, try one of ['get_weather', 'send_email'].",
      status: 'error',
    });
  });

  test('a turn without gated calls passes through without a question', async () => {
    const nodes: string[] = [];
    const { agent } = rig([{ tool_calls: [weather()] }]);
    await agent.invoke(
      { messages: ['go'] },
      { configurable: { thread_id: 't' }, onStep: ({ node }) => nodes.push(node) },
    );
    expect(nodes).toEqual(['llm_call', 'human_review', 'tool_node', 'llm_call']);
  });
});

describe('arguments that are no JSON object', () => {
  test.each([
    ['{"to":', 'Not valid JSON'],
    ['', 'Not valid JSON'],
    ['{"to":12345678901234567890}', 'A number is out of range; write it as text'],
    ['{"to":[{"n":-1e400}]}', 'A number is out of range; write it as text'],
    [{ to: 2 ** 53 }, 'A number is out of range; write it as text'],
    [{ to: Number.NEGATIVE_INFINITY }, 'A number is out of range; write it as text'],
    ['[]', 'Expected an object'],
    ['null', 'Expected an object'],
    [['a'], 'Expected an object'],
    [undefined, 'Not valid JSON'],
    [{ to: 1n }, 'Not valid JSON'],
  ])('P77 %s: no review, an error result names the fault', async (args, problem) => {
    const { say, runs, requests } = rig([{ tool_calls: [{ name: 'send_email', args }] }]);
    const { __interrupt__, messages } = await say('go');
    expect(__interrupt__).toBeUndefined();
    expect(messages.at(-1)).toMatchObject({ content: 'Done.' });
    expect(runs).toEqual([]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      content: `Error: invalid arguments for send_email. args: ${problem}`,
      status: 'error',
    });
  });

  test('P77 beside a good call: the good one is reviewed alone, and pairs with its decision', async () => {
    const { decide, runs, requests } = await paused({
      tool_calls: [email('{'), email(JSON.stringify(OTHER))],
    });
    await decide([approve]);
    expect(runs.map(({ args }) => args)).toEqual([OTHER]);
    expect(requests[1]?.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });
});
