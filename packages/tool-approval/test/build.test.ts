import { describe, expect, test } from 'vitest';
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
