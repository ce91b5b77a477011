import { describe, expect, test } from 'vitest';
import { MemoryCheckpointer } from '../src/agent/index.ts';
import { type ModelReply, REJECTED_BY_USER_MESSAGE } from '../src/index.ts';
import { readThreadState } from '../src/state/read.ts';
import { approve, EMAIL, edit, email, paused, reject, rig, weather } from './rig.ts';

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
    const checkpointer = new MemoryCheckpointer();
    const records: unknown[] = [];
    const { say, decide, runs } = rig([{ tool_calls: [weather('Solo')] }], {
      checkpointer,
      toolsRequiringApproval: ['send_email', 'get_weather'],
      onRun: async () => {
        records.push(readThreadState((await checkpointer.load('thread'))?.state).calls);
      },
    });
    await say('go');
    const { messages } = await decide([edit(EMAIL)]);
    expect(runs).toMatchObject([{ tool: 'send_email', args: EMAIL }]);
    expect(records).toEqual([[{ gated: true, decision: 'edit', progress: 'claimed' }]]);
    expect(messages.slice(1, 3)).toMatchObject([
      { tool_calls: [{ name: 'send_email', args: EMAIL }] },
      { name: 'send_email', status: 'success' },
    ]);
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
