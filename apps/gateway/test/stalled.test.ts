import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { ReviewStore } from '@plangate/review/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from './rig.ts';

/** A little longer than a process may be stopped between two steps of a request, in milliseconds. */
const STOPPED_MS = 10_100;

const { server, redis } = await redisForFile();
const store = new (class StoppedAfterLooking extends ReviewStore {
  readonly stopped = new Set<WorkflowId>();

  /** As if the process were stopped whenever it has looked at one of these reviews, with nothing under way. */
  override async load(id: WorkflowId): ReturnType<ReviewStore['load']> {
    const loaded = await super.load(id);
    if (this.stopped.has(id)) await new Promise((resolve) => setTimeout(resolve, STOPPED_MS));
    return loaded;
  }
})(redis);

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    redis: server,
    options: { adapt: (parts) => ({ ...parts, reviews: store }) },
  });
});
afterAll(() => rig?.stop());

test('what was seen over 10 s ago is not acted upon: 503 request_stalled, nothing is written, and a second try works', async () => {
  const actions = [
    { action: 'approve' },
    { action: 'edit', plan: 'Mine' },
    { action: 'reject' },
    { action: 'extend', seconds: 60 },
    { action: 'feedback', message: 'Less' },
  ];
  const ids = await Promise.all(actions.map(() => rig.review()));
  const states = () => Promise.all(ids.map(async (id) => (await rig.reviews.load(id)).state));
  const act = () => Promise.all(actions.map((body, at) => rig.post(`/api/v1/tasks/${ids[at]}/review`, body)));
  const before = await states();

  for (const id of ids) store.stopped.add(id);
  const late = await act();
  expect(late.map(({ status, json }) => [status, json.code])).toEqual(
    actions.map(() => [503, 'request_stalled']),
  );
  for (const { headers } of late) expect(headers['retry-after']).toBeDefined();
  expect(await states()).toEqual(before);
  expect(rig.llm.requests).toEqual([]);

  store.stopped.clear();
  expect((await act()).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
}, 60_000);
