import type { TaskInput, WorkflowId } from '@plangate/contracts';
import { startRedis } from '@plangate/devstack';
import { EventLog } from '@plangate/events/redis';
import { connectRedis } from '@plangate/redis';
import { sha256 } from '@plangate/review/use-cases';
import { DraftStore } from '@plangate/tasks/redis';
import { expect, it, vi } from 'vitest';
import type { Parts } from '../src/activities/index.ts';
import { researchActivities } from '../src/activities/research.ts';

it('a step that broke off after its report was kept tells all of it when it is tried again, once', async () => {
  const server = await startRedis();
  const redis = connectRedis(server.url);
  await vi.waitUntil(() => redis.status === 'ready');
  const parts = { drafts: new DraftStore(redis), events: new EventLog(redis, { keep: 1_000 }) };
  const id = 'task-kept' as WorkflowId;
  const plan = { text: 'Plan', sha256: sha256('Plan'), version: 1, approved_by: 'ada' };
  const metadata = { citations: [], verification: { claims: 2, supported: 1, unsupported: 1 } };
  await parts.drafts.save(id, { result: 'Report', metadata, modelUsed: '', provider: '' });
  const input = { workflow_id: id } as Partial<TaskInput> as TaskInput;
  const { writeReport } = researchActivities(parts as unknown as Parts);

  for (const _attempt of [2, 3]) {
    await expect(writeReport(input, plan, [])).resolves.toEqual({
      kind: 'completed',
    });
  }

  const told = await parts.events.read(id, { limit: 10 });
  expect(told.map(({ type, payload }) => [type, payload])).toEqual([
    ['AGENT_COMPLETED', metadata.verification],
    ['LLM_OUTPUT', { citations: 0 }],
  ]);
  redis.disconnect();
  await server.stop();
});
