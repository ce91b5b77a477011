import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

const histories = new URL('./histories/', import.meta.url);
const names = readdirSync(histories)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace('.json', ''));

let workflowBundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../src/workflows/index.ts', import.meta.url));
  workflowBundle = await bundleWorkflowCode({ workflowsPath });
});

/** A run that waits for a person may outlive a deployment: today's code must go the way that its history went. */
it('the bundle holds no schema library: it would be evaluated anew for every workflow that waits', () => {
  expect(workflowBundle.code).not.toContain('ZodError');
});

describe('recorded histories replay on the workflows as they are', () => {
  it('there is one for every path', () => {
    expect(names.length).toBeGreaterThanOrEqual(15);
  });

  it.each(names)('%s', async (name) => {
    const history: unknown = JSON.parse(await readFile(new URL(`${name}.json`, histories), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle }, history);
  });
});
