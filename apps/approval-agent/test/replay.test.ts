import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';

const histories = new URL('./histories/', import.meta.url);
const names = readdirSync(histories)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace('.json', ''));

let workflowBundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../src/workflows/index.ts', import.meta.url));
  workflowBundle = await bundleWorkflowCode({ workflowsPath });
});

test('the bundle holds no schema library: it would be evaluated anew for every thread that waits', () => {
  expect(workflowBundle.code).not.toContain('ZodError');
  expect(workflowBundle.code).not.toContain('cfworker');
});

/** A thread outlives every deployment: today's code must go the way that its history went. */
test.each(names)('a recorded history replays on the workflow as it is: %s', async (name) => {
  const history: unknown = JSON.parse(await readFile(new URL(`${name}.json`, histories), 'utf8'));
  await Worker.runReplayHistory({ workflowBundle }, history);
});
