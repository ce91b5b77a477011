import { findBrokenEntry } from '@plangate/review';
import { reviewKeys } from '@plangate/review/redis';
import { sha256 } from '@plangate/review/use-cases';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const act = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  rig.ask(`/api/v1/tasks/${id}/review`, { method: 'POST', body, headers });

test('GET …/review/audit: accepted steps and refusals by time, each naming its request', async () => {
  const id = await rig.review();
  await act(id, { action: 'edit', plan: 'Mine', approved_by: 'root' }, { 'X-Request-ID': 'request-1' });
  await act(id, { action: 'approve' }, { 'If-Match': '1', 'X-Request-ID': 'request-2' });
  const { status, json } = await rig.ask(`/api/v1/tasks/${id}/review/audit`);
  expect(status).toBe(200);
  expect(json.entries).toMatchObject([
    { action: 'open', by: 'system', outcome: 'accepted', version: 1 },
    {
      action: 'edit',
      by: 'alice',
      outcome: 'accepted',
      version: 2,
      request_id: 'request-1',
      plan_sha256: sha256('Mine'),
    },
    { action: 'approve', by: 'alice', outcome: 'refused', code: 'version_conflict', request_id: 'request-2' },
  ]);
  const accepted = json.entries.filter(({ outcome }: { outcome: string }) => outcome === 'accepted');
  expect(findBrokenEntry(accepted, sha256)).toBeNull();
});

test('the audit outlives the review: its task says whose it was', async () => {
  const id = await rig.review();
  await rig.redis.del(reviewKeys(id).review);
  const { status, json } = await rig.ask(`/api/v1/tasks/${id}/review/audit`);
  expect([status, json.entries.length]).toEqual([200, 1]);
  const other = await rig.ask(`/api/v1/tasks/${id}/review/audit`, { key: rig.keys.bob });
  expect(other.status).toBe(403);
});

test('a task that never had a review has no audit: 404', async () => {
  const { task_id } = await rig.task();
  expect((await rig.ask(`/api/v1/tasks/${task_id}/review/audit`)).status).toBe(404);
});
