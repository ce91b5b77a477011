import { describe, expect, test } from 'vitest';
import {
  AgentSettingsError,
  buildHumanInTheLoopAgent,
  Command,
  MemoryCheckpointer,
} from '../src/agent/index.ts';
import { type ModelReply, REJECTED_BY_USER_MESSAGE, ToolFailedError } from '../src/index.ts';
import { demoTools, EMAIL, email, rig, scriptedModel, weather } from './rig.ts';

const OTHER = { ...EMAIL, to: 'bob@example.com' };
const edit = (args: object, name = 'send_email') => ({ type: 'edit', edited_action: { name, args } });
const approve = { type: 'approve' };
const reject = (message?: string) => ({ type: 'reject', ...(message === undefined ? {} : { message }) });

/** A turn stopped before the decision, with traces. */
async function paused(reply: ModelReply, ...more: (ModelReply | Error)[]) {
  const parts = rig([reply, ...more]);
  const nodes: string[] = [];
  const config = {
    configurable: { thread_id: 'thread' },
    onStep: ({ node }: { node: string }) => nodes.push(node),
  };
  await parts.agent.invoke({ messages: ['go'] }, config);
  nodes.length = 0;
  const decide = (decisions: unknown[]) => parts.agent.invoke(new Command({ resume: { decisions } }), config);
  return { ...parts, decide, nodes };
}

describe('approve', () => {
  test('runs the call with the name and arguments that were shown', async () => {
    const { decide, runs, nodes } = await paused({ tool_calls: [email()] });
    const { messages } = await decide([approve]);
    expect(runs).toMatchObject([{ tool: 'send_email', args: EMAIL }]);
    expect(nodes).toEqual(['human_review', 'tool_node', 'llm_call']);
    expect(messages.at(-2)).toEqual({
      role: 'tool',
      content: 'Sent to alice@example.com.',
      name: 'send_email',
      tool_call_id: runs[0]?.callId,
      status: 'success',
    });
  });

  test('fields of another type of decision are ignored', async () => {
    const { decide, runs } = await paused({ tool_calls: [email()] });
    await decide([{ ...approve, message: 'no!', edited_action: { name: 'get_weather', args: {} } }]);
    expect(runs).toMatchObject([{ tool: 'send_email', args: EMAIL }]);
  });
});

describe('edit', () => {
  test('P66 H04 the model sees what ran under the old id, and no copy of the old arguments is left', async () => {
    const secret = { ...EMAIL, body: 'The meeting is at 10, and the code is 4711.' };
    const moved = { ...EMAIL, body: 'The meeting is at 11.' };
    const raw = { parts: [{ functionCall: { name: 'send_email', args: secret } }] };
    const content = [
      { type: 'text', text: 'I mail.' },
      { type: 'tool_use', input: secret },
    ];
    const { decide, requests, runs, state } = await paused({
      content,
      tool_calls: [email(secret, 'c1')],
      raw,
    } as ModelReply);
    await decide([edit(moved)]);
    expect(runs.map(({ args }) => args)).toEqual([moved]);
    const seen = requests[1]?.messages.find(({ role }) => role === 'assistant');
    expect(seen).toEqual({
      role: 'assistant',
      content: 'I mail.',
      tool_calls: [{ id: 'c1', name: 'send_email', args: moved }],
    });
    expect(JSON.stringify([requests[1], await state()])).not.toContain('4711');
  });

  test('a raw copy of the provider is handed back where nothing was edited', async () => {
    const raw = { signature: 'abc' };
    const { decide, requests } = await paused({ tool_calls: [email(EMAIL, 'c1')], raw });
    await decide([approve]);
    expect(requests[1]?.messages[1]).toMatchObject({ raw });
  });

  test('arguments are replaced as a whole, not merged', async () => {
    const { decide, runs, state } = await paused({ tool_calls: [email()] });
    await decide([edit({ to: 'carol@example.com' })]);
    expect(runs).toEqual([]);
    expect((await state()).values.messages[1]).toMatchObject({
      tool_calls: [{ args: { to: 'carol@example.com' } }],
    });
  });

  test('a null among the edited arguments survives', async () => {
    const { decide, state } = await paused({ tool_calls: [email()] });
    await decide([edit({ ...EMAIL, body: null })]);
    expect((await state()).values.messages[1]).toMatchObject({
      tool_calls: [{ args: { ...EMAIL, body: null } }],
    });
  });

  test('a name that is no tool: not run, and the text lists the tools, sorted', async () => {
    const { decide, runs, requests, nodes } = await paused({ tool_calls: [email()] });
    await decide([edit({}, 'delete_all')]);
    expect(runs).toEqual([]);
    expect(nodes).toEqual(['human_review', 'tool_node', 'llm_call']);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      content: "Error: delete_all is not a valid tool, try one of ['get_weather', 'send_email'].",
      name: 'delete_all',
      status: 'error',
    });
  });

  test('P67 to another tool, a gated one too: the person wrote that action, it runs and the record says so', async () => {
    const runs: Parameters<typeof demoTools>[0] = [];
    const { model } = scriptedModel([{ tool_calls: [weather('Solo')] }]);
    const checkpointer = new MemoryCheckpointer();
    const agent = buildHumanInTheLoopAgent({
      model,
      tools: demoTools(runs),
      toolsRequiringApproval: ['send_email', 'get_weather'],
      checkpointer,
    });
    const config = { configurable: { thread_id: 't' } };
    await agent.invoke({ messages: ['go'] }, config);
    const { messages } = await agent.invoke(new Command({ resume: { decisions: [edit(EMAIL)] } }), config);
    expect(runs).toMatchObject([{ tool: 'send_email', args: EMAIL }]);
    expect(messages[1]).toMatchObject({ tool_calls: [{ name: 'send_email', args: EMAIL }] });
    expect(JSON.parse((await checkpointer.load('t'))!.state).messages[2].name).toBe('send_email');
  });

  test('H05 arguments that do not fit are found before the tool runs: fields only, and nothing waits any more', async () => {
    const { decide, runs, requests, state } = await paused({ tool_calls: [email()] });
    await decide([edit({ to: 1, subject: 's', cc: 'x' })]);
    expect(runs).toEqual([]);
    const text = requests[1]?.messages.at(-1)?.content ?? '';
    expect(text).toMatch(
      /^Error: invalid arguments for send_email\. to: [^;]+; body: [^;]+; cc: Unrecognized field$/,
    );
    expect(text).not.toMatch(/\n|\.ts|node_modules|at /);
    expect((await state()).interrupts).toEqual([]);
  });

  test('the model’s own arguments that do not fit are shown, and answered like edited ones', async () => {
    const { decide, runs, requests } = await paused({ tool_calls: [email({ to: 'a' })] });
    await decide([approve]);
    expect(runs).toEqual([]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      content: expect.stringMatching(/^Error: invalid arguments for send_email\. subject: .*; body: /),
      status: 'error',
    });
  });
});

describe('reject', () => {
  test.each([
    [
      'H06 the reason reaches the model to the letter',
      ' Wrong recipient.\r\nAsk <b>Bob</b>. ',
      ' Wrong recipient.\r\nAsk <b>Bob</b>. ',
    ],
    ['without a reason', undefined, REJECTED_BY_USER_MESSAGE],
    ['with an empty one', '', REJECTED_BY_USER_MESSAGE],
    ['with a blank one', ' \u200b\n', REJECTED_BY_USER_MESSAGE],
  ])('not run; the call stays, with its error result: %s', async (_, message, content) => {
    const { decide, runs, requests, nodes } = await paused({ tool_calls: [email(EMAIL, 'c1')] });
    await decide([reject(message)]);
    expect(runs).toEqual([]);
    expect(nodes).toEqual(['human_review', 'llm_call']);
    expect(requests[1]?.messages.slice(1)).toEqual([
      { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'send_email', args: EMAIL }] },
      { role: 'tool', content, name: 'send_email', tool_call_id: 'c1', status: 'error' },
    ]);
  });

  test('H06 each of several reasons reaches its own call, beside an approval too', async () => {
    const { decide, requests } = await paused({
      tool_calls: [email(EMAIL, 'a'), email(EMAIL, 'b'), email(EMAIL, 'c')],
    });
    await decide([reject('first'), approve, reject('third')]);
    const results = requests[1]?.messages.flatMap((m) =>
      m.role === 'tool' ? [[m.tool_call_id, m.content]] : [],
    );
    expect(results).toEqual([
      ['a', 'first'],
      ['c', 'third'],
      ['b', 'Sent to alice@example.com.'],
    ]);
  });

  test('P69 a request that is made again is a new review', async () => {
    const { decide, runs } = await paused(
      { tool_calls: [email()] },
      { tool_calls: [email()] },
      { tool_calls: [email()] },
    );
    const again = await decide([reject()]);
    const third = await decide([reject()]);
    expect(third.__interrupt__?.[0].value).toEqual(again.__interrupt__?.[0].value);
    expect(third.__interrupt__?.[0].id).not.toBe(again.__interrupt__?.[0].id);
    expect(runs).toEqual([]);
  });
});

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

describe('faults', () => {
  test('H11 the tool throws: its call is answered, no model call follows, the thread goes on', async () => {
    const cause = new Error('SMTP password: hunter2');
    const { say, decide, requests, state } = rig([{ tool_calls: [email()] }], {
      onRun: () => {
        throw cause;
      },
    });
    await say('go');
    const failure = decide([approve]);
    await expect(failure).rejects.toThrow(ToolFailedError);
    await expect(failure).rejects.toMatchObject({ tool: 'send_email', cause });
    expect(requests).toHaveLength(1);
    const { values, next } = await state();
    expect(next).toEqual([]);
    expect(values.messages.at(-1)).toMatchObject({ content: 'Error: send_email failed.', status: 'error' });
    expect((await say('and now?')).messages.at(-1)).toMatchObject({ content: 'Done.' });
    expect(JSON.stringify(requests[1])).not.toContain('hunter2');
  });

  test('H12 of two approved calls the first throws: the other still runs, and nothing is repeated', async () => {
    let first = true;
    const { say, decide, runs, requests } = rig([{ tool_calls: [email(), email(OTHER)] }], {
      onRun: () => {
        const fails = first;
        first = false;
        if (fails) throw new Error('no');
      },
    });
    await say('go');
    await expect(decide([approve, approve])).rejects.toThrow(ToolFailedError);
    expect(runs.map(({ args }) => args)).toEqual([EMAIL, OTHER]);
    await expect(decide([approve, approve])).rejects.toThrow('Tidak ada aksi');
    await say('again?');
    expect(runs).toHaveLength(2);
    expect(requests[1]?.messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { content: 'Error: send_email failed.' },
      { content: 'Sent to bob@example.com.' },
    ]);
  });

  test('H12 the second throws: the result of the first is kept', async () => {
    const { say, decide, runs, state } = rig([{ tool_calls: [email(), email(OTHER)] }], {
      onRun: ({ args }) => {
        if ((args as typeof EMAIL).to === OTHER.to) throw new Error('no');
      },
    });
    await say('go');
    await expect(decide([approve, approve])).rejects.toThrow(ToolFailedError);
    expect(runs).toHaveLength(2);
    expect((await state()).values.messages.slice(-2)).toMatchObject([
      { content: 'Sent to alice@example.com.', status: 'success' },
      { content: 'Error: send_email failed.', status: 'error' },
    ]);
  });

  test('the model throws after an approval: what ran stays done, and the thread goes on', async () => {
    const { decide, runs, say, requests } = await paused({ tool_calls: [email()] }, new Error('overloaded'));
    await expect(decide([approve])).rejects.toThrow('overloaded');
    expect(runs).toHaveLength(1);
    expect((await say('and?')).messages.at(-1)).toMatchObject({ content: 'Done.' });
    expect(runs).toHaveLength(1);
    expect(requests.at(-1)?.messages.at(-2)).toMatchObject({ role: 'tool', status: 'success' });
  });

  test.each([
    [null],
    ['text'],
    [{ content: 5 }],
    [{ tool_calls: {} }],
    [{ tool_calls: [null] }],
    [{ tool_calls: [{ args: {} }] }],
  ])('a reply that is none ends the turn, and the thread goes on: %j', async (reply) => {
    const { say } = rig([reply as never]);
    await expect(say('go')).rejects.toMatchObject({ name: 'ModelReplyError' });
    expect((await say('again')).messages.at(-1)).toMatchObject({ content: 'Done.' });
  });

  test('what a tool does to its arguments changes nothing of the record', async () => {
    const { say, decide, state } = rig([{ tool_calls: [email()] }], {
      onRun: ({ args }) => {
        (args as { to: string }).to = 'mallory@example.com';
      },
    });
    await say('go');
    await decide([approve]);
    expect((await state()).values.messages[1]).toMatchObject({ tool_calls: [{ args: EMAIL }] });
  });

  test('what a model’s adapter does to its request changes nothing of what runs', async () => {
    const { say, decide, runs } = rig([], {
      model: ({ messages }) => {
        for (const message of messages) {
          if (message.role === 'assistant') for (const call of message.tool_calls) call.name = 'x';
        }
        return messages.at(-1)?.role === 'user' ? { tool_calls: [email()] } : { content: 'Done.' };
      },
    });
    await say('go');
    const { messages } = await decide([approve]);
    expect(runs).toHaveLength(1);
    expect(messages[1]).toMatchObject({ tool_calls: [{ name: 'send_email' }] });
  });
});

describe('building an agent', () => {
  const build = (changes: object) => {
    const options = {
      model: () => ({}),
      tools: demoTools([]),
      toolsRequiringApproval: ['send_email'],
      checkpointer: new MemoryCheckpointer(),
    };
    return () => buildHumanInTheLoopAgent({ ...options, ...changes });
  };

  test('P68 an unknown name among the gated tools is refused, sorted, with the contract’s text', () => {
    expect(build({ toolsRequiringApproval: ['send_mail'] })).toThrow(
      "tools_requiring_approval berisi tool tak dikenal: ['send_mail']",
    );
    expect(build({ toolsRequiringApproval: ['z', 'send_email', 'a'] })).toThrow("tak dikenal: ['a', 'z']");
  });

  test.each([
    ['two tools of one name', { tools: [...demoTools([]), ...demoTools([])] }],
    ['no checkpointer', { checkpointer: undefined }],
    ['a misspelt option', { toolsRequiringAproval: [] }],
    ['no list of gated tools', { toolsRequiringApproval: undefined }],
    ['a text as list of gated tools', { toolsRequiringApproval: 'send_email' }],
  ])('P68 %s is refused', (_, changes) => {
    expect(build(changes)).toThrow(AgentSettingsError);
  });

  test('the system prompt goes before every model call and is no part of the thread', async () => {
    const { say, requests } = rig([], { systemPrompt: 'Be brief.' });
    const { messages } = await say('go');
    expect(requests[0]?.system).toBe('Be brief.');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});
