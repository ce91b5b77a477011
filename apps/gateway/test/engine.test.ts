import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { WorkflowId } from '@plangate/contracts';
import { pino } from 'pino';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createEngine, type Engine } from '../src/engine.ts';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { NOWHERE, recordOf } from './rig.ts';

let temporal: TemporalEyes;
let engine: Engine;
const made: Engine[] = [];
beforeAll(async () => {
  temporal = await watchTemporal(inject('temporalAddress'));
  engine = engineAt(inject('temporalAddress'));
});
afterAll(async () => {
  await Promise.all(made.map((each) => each.close()));
  await temporal.close();
});

function engineAt(address: string, namespace = 'default'): Engine {
  const log = pino({ level: 'silent' });
  const each = createEngine({ address, namespace, taskQueue: `test-${ulid()}`, log, deadlineMs: 1_000 });
  made.push(each);
  return each;
}
const newId = () => `task-${ulid()}` as WorkflowId;

test('a run that exists already counts as started, also when it is over', async () => {
  const { input, task_id: id } = recordOf({});
  expect(await engine.startTask('answer', input)).toBe('started');
  expect(await engine.startTask('answer', input)).toBe('started');
  await temporal.client.workflow.getHandle(id).terminate();
  expect(await engine.startTask('answer', input)).toBe('started');
  expect(await engine.describeRun(id)).toBe('over');
});

test('a run is running, over, or none', async () => {
  const id = newId();
  expect(await engine.describeRun(id)).toBe('none');
  expect(await engine.signal(id, 'cancel', {})).toBe('not_found');
  await temporal.start(id);
  expect(await engine.describeRun(id)).toBe('running');
  expect(await engine.signal(id, 'cancel', {})).toBe('sent');
  await temporal.client.workflow.getHandle(id).terminate();
  expect(await engine.describeRun(id)).toBe('over');
  expect(await engine.signal(id, 'cancel', {})).toBe('not_found');
});

test('a namespace that does not exist is never taken for a run that does not exist', async () => {
  const lost = engineAt(inject('temporalAddress'), 'no-such-namespace');
  expect(await lost.describeRun(newId())).toBe('unreachable');
  expect(await lost.signal(newId(), 'cancel', {})).toBe('unreachable');
  expect(await lost.startTask('answer', recordOf({}).input)).toBe('refused');
  await expect(lost.check()).rejects.toThrow();
});

test('where nothing listens a start is refused at once', async () => {
  const away = engineAt(NOWHERE);
  const began = performance.now();
  expect(await away.startTask('answer', recordOf({}).input)).toBe('refused');
  expect(await away.describeRun(newId())).toBe('unreachable');
  expect(performance.now() - began).toBeLessThan(900);
});

test('a server that takes connections and says nothing is given up at the deadline', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const away = engineAt(`127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const began = performance.now();
  expect(await away.signal(newId(), 'cancel', {})).toBe('unreachable');
  expect(performance.now() - began).toBeLessThan(2_000);
  await away.close();
  silent.close();
});
