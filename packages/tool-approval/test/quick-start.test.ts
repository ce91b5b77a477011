import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const GUIDE = readFileSync(new URL('../../../docs/tool-approval.md', import.meta.url), 'utf8');

const [QUICK_START = '', CORE = '', ...others] = Array.from(
  GUIDE.matchAll(/```ts\n([\s\S]*?)```/g),
  ([, code = '']) => code,
);

test('the guide has no further TypeScript than what is run here', () => {
  expect(others).toEqual([]);
});

test('the quick start of docs/tool-approval.md runs as it stands and prints what it says', () => {
  expect(QUICK_START).toContain('buildHumanInTheLoopAgent');
  const lines = linesOf(QUICK_START);
  expect(lines).toEqual(['Tool `send_email` menunggu persetujuan', 'Your mail is on its way.']);
  for (const line of lines) expect(GUIDE).toContain(line);
});

test('the loop over the core runs as it stands: a free call runs, a gated one waits', () => {
  expect(CORE).toContain('nextStep(state)');
  const around = `
    import {
      claimCall, newThread, nextStep, receiveMessage, receiveReply, recordInterruption, recordResult,
    } from '@plangate/tool-approval';
    import { ToolBox } from '@plangate/tool-approval/tools';
    const tool = (name) => ({ name, description: '', parameters: { type: 'object' }, execute: () => 'ran ' + name });
    const toolBox = new ToolBox({ tools: [tool('look'), tool('send')], toolsRequiringApproval: ['send'] });
    const gate = { isGated: (name) => toolBox.isGated(name), newId: () => crypto.randomUUID() };
    const model = async (messages) => ({ tool_calls: [{ name: messages.length === 1 ? 'look' : 'send', args: {} }] });
    const threadId = 'thread-1';
    ${CORE}
    console.log(state.phase, state.messages.map(({ role, content }) => role + ':' + content).join(' '));`;
  expect(linesOf(around)).toEqual(['review user:Say hello to Alice assistant: tool:ran look assistant:']);
});

/** What a program prints that runs in this package. */
function linesOf(code: string): string[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module-typescript'], {
    cwd: PACKAGE,
    input: code,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim().split('\n');
}
