import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { type Rig, startRig } from './rig.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE = { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' };

let rig: Rig;
let temporal: TemporalEyes;
beforeAll(async () => {
  const temporalAddress = inject('temporalAddress');
  temporal = await watchTemporal(temporalAddress);
  rig = await startRig({ temporalAddress });
});
afterAll(async () => {
  await rig.stop();
  await temporal.close();
});

test('the trace of a request stands in its log line and goes on to llm-service', async () => {
  const id = await rig.review();
  const body = { action: 'feedback', message: 'Shorter' };
  expect((await rig.post(`/api/v1/tasks/${id}/review`, body, TRACE)).status).toBe(200);
  expect(rig.llm.headers.at(-1)).toMatchObject(TRACE);
  await expect.poll(() => rig.lines.some((line) => line['trace_id'] === TRACE_ID)).toBe(true);
  await rig.post(`/api/v1/tasks/${id}/review`, body, { traceparent: 'nonsense' });
  expect(rig.llm.headers.at(-1)?.['traceparent']).toBeUndefined();
});

test('the trace of a submission stands in the memo of its run', async () => {
  const { json } = await rig.post('/api/v1/tasks', { query: 'x' }, TRACE);
  const { memo } = await temporal.client.workflow.getHandle(json.task_id).describe();
  expect(memo).toEqual({ traceparent: TRACE.traceparent });
  const without = await rig.post('/api/v1/tasks', { query: 'x' });
  expect((await temporal.client.workflow.getHandle(without.json.task_id).describe()).memo ?? {}).toEqual({});
});
