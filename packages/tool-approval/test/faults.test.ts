import { describe, expect, test } from 'vitest';
import { MemoryCheckpointer } from '../src/agent/index.ts';
import { applyDecisions, checkDecisions, claimCall, recordResult, ToolFailedError } from '../src/index.ts';
import { readThreadState } from '../src/state/read.ts';
import { approve, EMAIL, email, OTHER, paused, rig } from './rig.ts';

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

  test('H12 a driver died after one tool had thrown: the next one runs the rest and reports the failure', async () => {
    const checkpointer = new MemoryCheckpointer();
    const { agent, say, state, runs, requests } = rig(
      [{ tool_calls: [email(EMAIL, 'a'), email(OTHER, 'b')] }],
      {
        checkpointer,
      },
    );
    await say('go');
    const { revision, state: kept } = (await checkpointer.load('thread'))!;
    const waiting = readThreadState(kept);
    const approved = applyDecisions(waiting, checkDecisions(waiting, [approve, approve]), 25);
    const thrown = recordResult(claimCall(approved, 0), 0, {
      content: 'Error',
      status: 'error',
      threw: true,
    });
    const left = { expected: revision, revision: 'left', state: JSON.stringify(thrown), holdMs: 0 };
    await checkpointer.save('thread', left);
    const config = { configurable: { thread_id: 'thread' } };
    await expect(agent.invoke(null, config)).rejects.toThrow(ToolFailedError);
    expect(runs.map(({ args }) => args)).toEqual([OTHER]);
    expect(requests).toHaveLength(1);
    expect((await state()).next).toEqual([]);
    expect((await agent.invoke(null, config)).messages.at(-1)).toMatchObject({ tool_call_id: 'b' });
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
