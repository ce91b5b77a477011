import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const GUIDE = readFileSync(new URL('../../../docs/tool-approval.md', import.meta.url), 'utf8');

test('the quick start of docs/tool-approval.md runs as it stands and prints what it says', () => {
  const code = /```ts\n([\s\S]*?)```/.exec(GUIDE)?.[1] ?? '';
  expect(code).toContain('buildHumanInTheLoopAgent');
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module-typescript'], {
    cwd: PACKAGE,
    input: code,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(lines).toEqual(['Tool `send_email` menunggu persetujuan', 'Your mail is on its way.']);
  for (const line of lines) expect(GUIDE).toContain(line);
});
