import { cancelReview } from '@plangate/review/use-cases';
import { endTask } from '@plangate/tasks/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, openReview, type Rig, startRig, until } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const read = (id: string, query = '') => rig.ask(`/api/v1/tasks/${id}/review${query}`);
/** The wait has begun: its channel is subscribed. */
const isWaiting = (id: string) =>
  until(async () => (await rig.redis.pubsub('CHANNELS', `*${id}*`)).length > 0);

test('GET waits for the first plan and is woken when it is stored', async () => {
  const { task_id } = await rig.task();
  const waiting = [read(task_id), read(task_id), read(task_id, '?wait=25')];
  await isWaiting(task_id);
  const stored = performance.now();
  await openReview(rig.reviews, task_id);
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status, headers }) => [status, headers.etag])).toEqual(Array(3).fill([200, '"1"']));
  expect(performance.now() - stored).toBeLessThan(2_000);
});

test('an event that is not the plan does not end the wait', async () => {
  const { task_id } = await rig.task();
  let answered = false;
  const waiting = read(task_id).then((answer) => {
    answered = true;
    return answer;
  });
  await isWaiting(task_id);
  await rig.events.append(task_id, [{ type: 'PROGRESS', agent_id: 'a', message: 'still at it' }]);
  await until(async () => (await rig.events.latestSeq(task_id)) === 1);
  await rig.ask('/health');
  expect(answered).toBe(false);
  await openReview(rig.reviews, task_id);
  expect((await waiting).status).toBe(200);
});

test('a review that is closed before its first plan wakes the wait, and is shown', async () => {
  const { task_id } = await rig.task();
  const waiting = read(task_id);
  await isWaiting(task_id);
  const origin = { workflowId: task_id, owner: ALICE, query: 'What is known?', maxRounds: 10 };
  await cancelReview({ store: rig.reviews, newCommandId: () => 'c1' }, origin, 'alice', undefined);
  const answer = await waiting;
  expect([answer.status, answer.json.status, answer.json.rounds]).toEqual([200, 'cancelled', []]);
});

test('a planning that failed wakes the wait with 404', async () => {
  const { task_id } = await rig.task();
  const waiting = read(task_id);
  await isWaiting(task_id);
  await endTask(
    task_id,
    { kind: 'plan_failed' },
    { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 },
  );
  const answer = await waiting;
  expect([answer.status, answer.json.error]).toEqual([404, 'Review session not found or expired']);
  const again = performance.now();
  expect((await read(task_id)).status).toBe(404);
  expect(performance.now() - again).toBeLessThan(1_000);
});

test('wait=0 does not wait, wait=1 waits that long, other values are 400', async () => {
  const { task_id } = await rig.task();
  const began = performance.now();
  expect((await read(task_id, '?wait=0')).status).toBe(404);
  expect(performance.now() - began).toBeLessThan(900);
  const second = performance.now();
  expect((await read(task_id, '?wait=1')).status).toBe(404);
  expect(performance.now() - second).toBeGreaterThan(950);
  for (const wait of ['26', '-1', '1.5', 'x', '', '1e1', '%201']) {
    const answer = await read(task_id, `?wait=${wait}`);
    expect([wait, answer.status, answer.json.error]).toEqual([wait, 400, 'Invalid wait parameter']);
  }
});

test('there is nothing to wait for without a review, after the end, and for strangers', async () => {
  const { task_id: unreviewed } = await rig.task({ force_research: true });
  const { task_id: waiting } = await rig.task();
  const began = performance.now();
  expect((await read(unreviewed)).status).toBe(404);
  expect((await read('task-unknown')).status).toBe(404);
  const path = `/api/v1/tasks/${waiting}/review`;
  expect((await rig.ask(path, { key: rig.keys.bob })).status).toBe(403);
  expect((await rig.ask(path, { key: rig.keys.carol })).status).toBe(403);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('a gateway that stops answers those who wait with 503', async () => {
  const other = await startRig({ redis: rig.redisServer });
  const { task_id } = await rig.task();
  const waiting = other.ask(`/api/v1/tasks/${task_id}/review`);
  await isWaiting(task_id);
  await other.stop();
  const answer = await waiting;
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
});
