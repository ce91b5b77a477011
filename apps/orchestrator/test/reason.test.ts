import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';
import { expect, test } from 'vitest';
import { reasonOf } from '../src/workflows/lifecycle.ts';

const failedWith = (cause: Error) =>
  new ActivityFailure('Activity task failed', 'writeReport', '1', RetryState.TIMEOUT, undefined, cause);

test('the reason of a failed task is what was written for people', () => {
  const failure = ApplicationFailure.create({ message: 'the model failed to answer', type: 'llm_failed' });
  expect(reasonOf(failedWith(failure))).toBe('the model failed to answer');
  expect(reasonOf(failure)).toBe('the model failed to answer');
});

test.each([
  ApplicationFailure.create({ message: "Stream isn't writeable", type: 'Error' }),
  ApplicationFailure.create({ message: 'x is undefined', type: 'TypeError' }),
  ApplicationFailure.create({ message: 'connect ECONNREFUSED 127.0.0.1:6379' }),
  new Error('no failure of an activity'),
])('the words of a library or a fault of ours are not shown: %s', (cause) => {
  expect(reasonOf(failedWith(cause))).toBe('the work failed unexpectedly');
});
