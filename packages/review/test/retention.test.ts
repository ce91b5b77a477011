import { expect, it } from 'vitest';
import { retentionSeconds } from '../src/index.ts';
import { NOW } from './reviews.ts';

const until = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();

it('an approved review is kept for 60 minutes after the end of its task (contract §2.1)', () => {
  expect(retentionSeconds({ status: 'approved', expires_at: until(900) }, NOW)).toBe(3_600);
});

it.each(['rejected', 'cancelled', 'timed_out'] as const)(
  'a review that is %s is kept until 300 s after its deadline, or after now where that has passed',
  (status) => {
    expect(retentionSeconds({ status, expires_at: until(900) }, NOW)).toBe(1_200);
    expect(retentionSeconds({ status, expires_at: until(-50) }, NOW)).toBe(300);
  },
);
