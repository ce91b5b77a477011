import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowId } from '@plangate/contracts';
import { verifyAudit } from '@plangate/review';
import { reviewKeys } from '@plangate/review/redis';
import { sha256 } from '@plangate/review/use-cases';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readmeBlock } from '../../../test/support/readme.ts';
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
});

/** A review at version 2, with a stranger's refusal between the owner's, and its audit. */
async function contested() {
  const id = await rig.review();
  await act(id, { action: 'edit', plan: 'Mine' }, { 'If-Match': '9' });
  await rig.ask(`/api/v1/tasks/${id}/review`, {
    method: 'POST',
    body: { action: 'approve' },
    key: rig.keys.bob,
  });
  await act(id, { action: 'edit', plan: 'Mine' });
  await act(id, { action: 'approve' }, { 'If-Match': '9' });
  const keys = reviewKeys(id);
  return { id, keys, read: () => rig.ask(`/api/v1/tasks/${id}/review/audit`) };
}

test('GET …/review/audit: a client can check each chain, with a stranger’s entry in the list', async () => {
  const { read } = await contested();
  const { json, headers } = await read();
  expect(json.entries.map(({ chain, n, by }: Record<string, unknown>) => [chain, n, by])).toEqual([
    ['accepted', 1, 'system'],
    ['refused', 1, 'alice'],
    ['foreign', 1, 'another user'],
    ['accepted', 2, 'alice'],
    ['refused', 2, 'alice'],
  ]);
  const known = { version: Number(String(headers['etag']).replaceAll('"', '')) };
  expect(known.version).toBe(2);
  expect(verifyAudit(json.entries, sha256, known)).toEqual([]);
});

test('GET …/review/audit: each chain stays in its order where the clock of the store stepped back', async () => {
  const { keys, read } = await contested();
  const [first = '{}', ...others] = await rig.redis.lrange(keys.audit, 0, -1);
  const later = JSON.stringify({ ...JSON.parse(first), at: new Date(Date.now() + 3_600_000).toISOString() });
  await rig.redis
    .multi()
    .del(keys.audit)
    .rpush(keys.audit, later, ...others)
    .exec();
  const { json } = await read();
  const order = json.entries.map(({ chain, n }: Record<string, unknown>) => `${chain} ${n}`);
  expect(order).toEqual(['refused 1', 'foreign 1', 'refused 2', 'accepted 1', 'accepted 2']);
});

describe('the program of docs/audit.md', () => {
  let folder: string;
  let program: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plangate-audit-'));
    program = join(folder, 'verify-audit.mjs');
    const page = await readFile(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
    await writeFile(program, readmeBlock('Checking it', 'js', page));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const verify = (id: WorkflowId) =>
    new Promise<string>((resolve) => {
      const url = `${rig.url}/api/v1/tasks/${id}/review/audit`;
      execFile(process.execPath, [program, url, rig.keys.alice], (error, out, faults) =>
        resolve(`${error?.code ?? 0} ${out}${faults}`.trim()),
      );
    });

  test('says that an audit which nobody touched holds', async () => {
    const { id } = await contested();
    expect(await verify(id)).toBe('0 all 5 entries hold');
  });

  test.each([
    ['the first step is removed', 'accepted: not as written from entry 1 on', 'lpop', 'audit'],
    ['the last step is removed', 'accepted: nothing after entry 1 of 2', 'rpop', 'audit'],
    ['the first refusal is removed', 'refused: not as written from entry 1 on', 'lpop', 'refused'],
  ] as const)('finds that %s, and so does verifyAudit', async (_, text, pop, chain) => {
    const { id, keys, read } = await contested();
    await rig.redis[pop](keys[chain]);
    expect(await verify(id)).toBe(`1 ${text}`);
    expect(verifyAudit((await read()).json.entries, sha256, { version: 2 })).toHaveLength(1);
  });
});

test('a refusal whose chain cannot be written is answered as it is, and the log names the key', async () => {
  const { id, keys } = await contested();
  await rig.redis.multi().del(keys.refused).set(keys.refused, 'of another type').exec();
  const { status, json, headers } = await act(id, { action: 'edit', plan: 'x' }, { 'If-Match': '9' });
  expect([status, json.code, headers['etag']]).toEqual([409, 'version_conflict', '"2"']);
  expect(rig.lines).toContainEqual(
    expect.objectContaining({
      msg: 'refusal not in the audit',
      level: 50,
      workflow_id: id,
      keys: [keys.refused],
    }),
  );
  expect(await rig.redis.get(keys.refused)).toBe('of another type');
  expect((await act(id, { action: 'approve' }, { 'If-Match': '2' })).status).toBe(200);
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
