import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentSettingsError, buildHumanInTheLoopAgent, MemoryCheckpointer } from '../src/agent/index.ts';
import { demoTools, rig } from './rig.ts';

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
    ['a hold of no length', { holdMs: 0 }],
    ['a hold that is no number', { holdMs: Number.NaN }],
  ])('P68 %s is refused', (_, changes) => {
    expect(build(changes)).toThrow(AgentSettingsError);
  });

  const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute: () => 'seen' };

  test.each([
    ['no model', { model: undefined }, 'needs a model'],
    ['no tools', { tools: undefined }, 'tools is a list'],
    ['a tool without a name', { tools: [tool, { ...tool, name: '' }] }, 'tool 2 has no name'],
    ['a tool that is nothing', { tools: [undefined] }, 'tool 1 has no name'],
    [
      'a tool without a description',
      { tools: [{ ...tool, description: undefined }] },
      "tool 'look' has no descr",
    ],
    [
      'a tool without parameters',
      { tools: [{ ...tool, parameters: undefined }] },
      "tool 'look' has no param",
    ],
    ['a tool that does nothing', { tools: [{ ...tool, execute: undefined }] }, "tool 'look' has no function"],
    [
      'a schema that says nothing as JSON Schema',
      { tools: [{ ...tool, parameters: z.object({ at: z.date() }) }] },
      "the parameters of tool 'look' cannot be used: Date",
    ],
  ])('%s is refused when the agent is built, not by the first call', (_, changes, message) => {
    expect(build({ toolsRequiringApproval: [], ...changes })).toThrow(AgentSettingsError);
    expect(build({ toolsRequiringApproval: [], ...changes })).toThrow(message);
  });

  test('H16 an id of a thread with half a character is refused: it would be kept as another one', async () => {
    const agent = build({})();
    for (const thread_id of ['\ud800', 'a\udfff', '']) {
      const config = { configurable: { thread_id } };
      await expect(agent.invoke({ messages: ['go'] }, config)).rejects.toThrow('thread_id is a text');
      await expect(agent.getState(config)).rejects.toThrow('thread_id is a text');
    }
  });

  test('a listener that fails, at once or later, is not the turn’s fault', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    for (const onStep of [
      () => {
        throw new Error('at once');
      },
      async () => {
        throw new Error('later');
      },
    ]) {
      const config = { configurable: { thread_id: crypto.randomUUID() }, onStep };
      expect((await build({})().invoke({ messages: ['go'] }, config)).messages).toHaveLength(2);
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  test('the system prompt goes before every model call and is no part of the thread', async () => {
    const { say, requests } = rig([], { systemPrompt: 'Be brief.' });
    const { messages } = await say('go');
    expect(requests[0]?.system).toBe('Be brief.');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});
