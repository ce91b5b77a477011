import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { expect, it } from 'vitest';
import { DraftStore } from '../src/redis/index.ts';

const { redis } = await redisForFile();

it('the first result waits for the end of its task, whole, and is gone after it', async () => {
  const drafts = new DraftStore(redis);
  const id = 'task-1' as WorkflowId;
  const draft = { result: '研'.repeat(100_000), metadata: { a: [1] }, modelUsed: 'm', provider: 'p' };
  expect(await drafts.load(id)).toBeNull();
  expect(await drafts.save(id, draft)).toEqual(draft);
  expect(await drafts.save(id, { ...draft, result: 'another' })).toEqual(draft);
  expect(await drafts.load(id)).toEqual(draft);
  await drafts.remove(id);
  expect(await drafts.load(id)).toBeNull();
});
