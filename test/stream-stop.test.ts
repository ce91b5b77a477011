import type { NewEvent, WorkflowId } from '@plangate/contracts';
import { type App, startApp } from '@plangate/devstack';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { EventLog } from '@plangate/events/redis';
import { endTask, TaskStore } from '@plangate/tasks/redis';
import { afterAll, expect, test } from 'vitest';
import { openStream } from '../apps/gateway/test/raw-stream.ts';
import { NOWHERE, recordOf } from '../apps/gateway/test/rig.ts';
import { until } from './support/until.ts';

const STREAMS = 50;
const OWNER = {
  user: '00000000-0000-0000-0000-000000000002',
  tenant: '00000000-0000-0000-0000-000000000001',
};

const { server, redis } = await redisForFile();
const gateways: App[] = [];
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
});

async function startGatewayProcess(): Promise<{ app: App; port: number }> {
  const env = { REDIS_URL: server.url, TEMPORAL_ADDRESS: NOWHERE, GATEWAY_SKIP_AUTH: '1' };
  const app = await startApp('gateway', { env });
  gateways.push(app);
  return { app, port: Number(new URL(app.url ?? '').port) };
}

test(`P50 SIGTERM with ${STREAMS} open streams: each is told when to come back and reset, the process ends, another gateway goes on without loss`, async () => {
  const log = new EventLog(redis, { keep: 10_000 });
  const tasks = new TaskStore(redis);
  const ids = await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const record = recordOf({}, OWNER);
      await tasks.create(record);
      return record.task_id;
    }),
  );
  const say = (id: WorkflowId, message: string) => {
    const event: NewEvent = { type: 'PROGRESS', agent_id: 'agent', message };
    return log.append(id, [event]);
  };
  const [first, second] = [await startGatewayProcess(), await startGatewayProcess()];
  const open = (port: number, id: WorkflowId, last?: string) =>
    openStream(port, `/api/v1/stream/sse?workflow_id=${id}`, {
      key: '',
      headers: last === undefined ? {} : { 'Last-Event-ID': last },
    });

  const streams = ids.map((id) => open(first.port, id));
  await Promise.all(ids.map((id) => say(id, 'before')));
  await Promise.all(streams.map((stream) => stream.has('before')));
  const began = performance.now();
  process.kill(first.app.pid, 'SIGTERM');
  await Promise.all(ids.map((id) => say(id, 'meanwhile')));
  for (const stream of streams) {
    expect(await stream.ended).toBe('reset');
    expect(stream.text().endsWith('retry: 2000\n\n')).toBe(true);
  }
  await until(() => first.app.logs().includes('"msg":"stopped"'));
  const stoppedMs = performance.now() - began;
  expect(stoppedMs).toBeLessThan(30_000);

  const resumed = ids.map((id, n) => open(second.port, id, streams[n]?.frames().at(-1)?.id));
  await Promise.all(ids.map((id) => say(id, 'after')));
  for (const id of ids) {
    await endTask(
      id,
      { kind: 'completed', result: 'r' },
      { store: tasks, events: log, keepEventsSeconds: 60 },
    );
  }
  for (const [n, stream] of resumed.entries()) {
    expect(await stream.ended).toBe('end');
    const told = [...(streams[n]?.frames() ?? []), ...stream.frames()].map(({ id }) => id);
    const events = await log.read(ids[n] as WorkflowId, { limit: 100 });
    expect(told).toEqual(events.map(({ stream_id }) => stream_id));
    expect(events).toHaveLength(5);
  }
}, 120_000);
