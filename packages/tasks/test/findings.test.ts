import type { WorkflowId } from '@plangate/contracts';
import { redisForFile } from '@plangate/devstack/vitest-redis';
import { UnreadableStateError } from '@plangate/redis';
import { expect, it } from 'vitest';
import { FindingStore } from '../src/redis/index.ts';
import { findingsKey } from '../src/redis/keys.ts';

const { redis } = await redisForFile();
const findings = new FindingStore(redis);

const why = (n: number, text = 'Why?') => ({ id: `q${n}`, text, terms: ['a'] });
const of = (question: ReturnType<typeof why>, text: string) => ({
  question,
  passages: [{ id: 'p', title: 'T', url: 'file:t.md', source: 'local', text, heading: '' }],
  searches: 1,
});

it('what each question found waits for the report, and it is gone after the end', async () => {
  const id = 'task-1' as WorkflowId;
  const long = of(why(1), '研'.repeat(100_000));
  expect(await findings.save(id, long)).toEqual(long);
  expect(await findings.load(id, [why(1), why(2)])).toBeNull();
  await findings.save(id, of(why(2), 'two'));
  expect(await findings.load(id, [why(2), why(1)])).toEqual([of(why(2), 'two'), long]);
  expect(await findings.load(id, [])).toEqual([]);
  expect(await redis.ttl(findingsKey(id))).toBeGreaterThan(0);
  await findings.remove(id);
  expect(await findings.load(id, [why(1)])).toBeNull();
});

it('a step that is tried again and finds something else gets what was found first: the events told that', async () => {
  const id = 'task-2' as WorkflowId;
  await findings.save(id, of(why(1), 'first'));
  expect(await findings.save(id, of(why(1), 'second'))).toEqual(of(why(1), 'first'));
  expect(await findings.load(id, [why(1)])).toEqual([of(why(1), 'first')]);
  const attempts = Array.from({ length: 10 }, (_, n) => findings.save(id, of(why(2), `attempt ${n}`)));
  const [standing, ...others] = await Promise.all(attempts);
  for (const other of others) expect(other).toEqual(standing);
});

it('another question under the same id never gets the passages of the one before', async () => {
  const id = 'task-3' as WorkflowId;
  await findings.save(id, of(why(1), 'of the first plan'));
  const other = why(1, 'How?');
  expect(await findings.load(id, [other])).toBeNull();
  expect(await findings.save(id, of(other, 'of the second'))).toEqual(of(other, 'of the second'));
  expect(await findings.load(id, [other])).toEqual([of(other, 'of the second')]);
  expect(await findings.load(id, [why(1)])).toBeNull();
});

it('a field that only another version of a question has makes no other question of it', async () => {
  const id = 'task-5' as WorkflowId;
  const newer = { ...why(1), weight: 2 };
  expect(await findings.save(id, of(newer, 'found'))).toEqual(of(why(1), 'found'));
  expect(await findings.load(id, [newer])).toEqual([of(why(1), 'found')]);
});

it('a finding that cannot be read is said to be unreadable and stays', async () => {
  const id = 'task-4' as WorkflowId;
  await redis.hset(findingsKey(id), 'q1', '{"of":"another version"}');
  await expect(findings.load(id, [why(1)])).rejects.toThrow(UnreadableStateError);
  await expect(findings.save(id, of(why(1), 'new'))).rejects.toThrow(UnreadableStateError);
  expect(await redis.hget(findingsKey(id), 'q1')).toBe('{"of":"another version"}');
});
