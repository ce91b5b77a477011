import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { UnreadableStateError } from '@plangate/redis';
import { expect, it } from 'vitest';
import { FindingStore } from '../src/redis/index.ts';
import { findingsKey } from '../src/redis/keys.ts';

const { redis } = await redisForFile();

it('what each question found waits for the report, the first time counts, and it is gone after the end', async () => {
  const findings = new FindingStore(redis);
  const id = 'task-1' as WorkflowId;
  const of = (n: number, text: string) => ({
    question: { id: `q${n}`, text: 'Why?', terms: ['a'] },
    passages: [{ id: 'p', title: 'T', url: 'file:t.md', source: 'local', text, heading: '' }],
    searches: 1,
  });
  expect(await findings.save(id, of(1, '研'.repeat(100_000)))).toEqual(of(1, '研'.repeat(100_000)));
  expect(await findings.save(id, of(1, 'tried again'))).toEqual(of(1, '研'.repeat(100_000)));
  expect(await findings.load(id, ['q1', 'q2'])).toBeNull();
  await findings.save(id, of(2, 'two'));
  expect(await findings.load(id, ['q2', 'q1'])).toEqual([of(2, 'two'), of(1, '研'.repeat(100_000))]);
  expect(await findings.load(id, [])).toEqual([]);
  await findings.remove(id);
  expect(await findings.load(id, ['q1'])).toBeNull();
});

it('a finding that cannot be read is said to be unreadable and stays', async () => {
  const findings = new FindingStore(redis);
  const id = 'task-2' as WorkflowId;
  await redis.hset(findingsKey(id), 'q1', '{"of":"another version"}');
  await expect(findings.load(id, ['q1'])).rejects.toThrow(UnreadableStateError);
  expect(await redis.hget(findingsKey(id), 'q1')).toBe('{"of":"another version"}');
});
