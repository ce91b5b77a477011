import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, test } from 'vitest';
import { freePort, startTemporal } from '../src/index.ts';
import { isAlive } from './processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'plangate-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a workflow and its signal are still there after SIGKILL and restart', async () => {
  const temporal = await startTemporal({ dbFile: join(folder, 'temporal.db') });
  const first = await connect(temporal.address);
  const handle = await first.client.workflow.start('ResearchWorkflow', {
    workflowId: 'task-1',
    taskQueue: 'nobody',
  });
  await handle.signal('approved', { version: 3 });
  await first.close();

  await temporal.kill();
  expect(isAlive(temporal.pid)).toBe(false);
  await temporal.restart();

  const second = await connect(temporal.address);
  const found = second.client.workflow.getHandle('task-1');
  expect((await found.describe()).status.name).toBe('RUNNING');
  const { events } = await found.fetchHistory();
  expect(events?.some((event) => event.workflowExecutionSignaledEventAttributes)).toBe(true);
  await second.close();
  await temporal.stop();
  expect(isAlive(temporal.pid)).toBe(false);
});

test('two servers run side by side', async () => {
  const [one, two] = await Promise.all([startTemporal(), startTemporal()]);
  expect(one.port).not.toBe(two.port);
  const clients = await Promise.all([connect(one.address), connect(two.address)]);
  await clients[0].client.workflow.start('X', { workflowId: 'only-here', taskQueue: 'q' });
  await expect(clients[1].client.workflow.getHandle('only-here').describe()).rejects.toThrow(/not found/);
  await Promise.all(clients.map((each) => each.close()));
  await Promise.all([one.stop(), two.stop()]);
});

test('of two servers that want the same port at the same time one is refused, even if the other one answers there', async () => {
  const port = await freePort();
  const starts = await Promise.allSettled([startTemporal({ port }), startTemporal({ port })]);
  expect(starts.map((start) => start.status).sort()).toEqual(['fulfilled', 'rejected']);
  await Promise.all(starts.map((start) => (start.status === 'fulfilled' ? start.value.stop() : undefined)));
}, 60_000);

async function connect(address: string) {
  const connection = await Connection.connect({ address });
  return { client: new Client({ connection }), close: () => connection.close() };
}
