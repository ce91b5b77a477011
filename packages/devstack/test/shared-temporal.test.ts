import { Client, Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';

test('every suite of a run is given the address of one Temporal server that answers', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const client = new Client({ connection });
  const workflowId = `shared-${crypto.randomUUID()}`;
  const handle = await client.workflow.start('X', { workflowId, taskQueue: 'nobody' });
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await handle.terminate();
  await connection.close();
});
