import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ALL_APPS, type Stack, startStack } from '@plangate/devstack';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readmeBlock } from './support/readme.ts';

const outbox = mkdtempSync(join(tmpdir(), 'plangate-outbox-'));
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    apps: ALL_APPS,
    temporalAddress: inject('temporalAddress'),
    env: { APPROVAL_AGENT_OUTBOX: outbox },
  });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  rmSync(outbox, { recursive: true });
});

/** What the commands under a heading of the README print when a reader pastes them. */
function paste(heading: string): string {
  const commands = readmeBlock(heading, 'bash')
    .replaceAll('http://localhost:8080', stack.gatewayUrl)
    .replaceAll('http://localhost:8090', stack.approvalUrl);
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const ran = spawnSync('bash', ['-eu'], {
    input: commands,
    encoding: 'utf8',
    env: { ...process.env, PATH },
    timeout: 60_000,
  });
  expect(ran.stderr).toBe('');
  expect(ran.status).toBe(0);
  return ran.stdout;
}

test('the walk-through leads from the question over plan, feedback and approval to the report', () => {
  const shown = paste('Walk-through');
  expect(shown).toMatch(/ETag: "1"/i);
  expect(shown).toMatch(/event: RESEARCH_PLAN_UPDATED[\s\S]*event: done/);
  expect(shown).toContain('{"status":"approved","message":"Research started"}');
  expect(shown).toMatch(/"status":"TASK_STATUS_COMPLETED"/);
}, 90_000);

test('the walk-through of tool approval: what the person wrote is what was sent', () => {
  const [asked, decided, history] = paste('Tool approval')
    .split(/(?<=\})(?=\{"thread_id")/)
    .map((answer) => JSON.parse(answer));
  expect(asked).toMatchObject({
    answer: null,
    pending_review: { action_requests: [{ name: 'send_email' }] },
  });
  expect(decided).toMatchObject({ answer: expect.any(String), pending_review: null });
  expect(JSON.stringify(history)).toContain('The meeting is at 11.');
}, 90_000);
