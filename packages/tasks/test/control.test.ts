import { NO_CONTROL, type TaskStatus } from '@plangate/contracts';
import { describe, expect, it, test } from 'vitest';
import { type ControlAction, decideControl, isEnded, type TaskRecord } from '../src/index.ts';

const decide = (status: string, action: ControlAction, control = {}, wanted: TaskRecord['wanted'] = '') =>
  decideControl(
    { status: `TASK_STATUS_${status}` as TaskStatus, control: { ...NO_CONTROL, ...control }, wanted },
    action,
  );

describe('cancel, pause and resume', () => {
  test.each([
    ['QUEUED', 'pause'],
    ['RUNNING', 'pause'],
    ['PAUSED', 'resume'],
    ['QUEUED', 'cancel'],
    ['RUNNING', 'cancel'],
    ['PAUSED', 'cancel'],
  ] as const)('a task in %s takes %s', (status, action) => {
    expect(decide(status, action)).toEqual({ ok: true, repeat: false });
  });

  test.each([
    ['COMPLETED', 'pause', 'cannot pause completed task'],
    ['COMPLETED', 'resume', 'cannot resume completed task'],
    ['COMPLETED', 'cancel', 'cannot cancel completed task'],
    ['FAILED', 'pause', 'cannot pause failed task'],
    ['FAILED', 'cancel', 'cannot cancel failed task'],
    ['CANCELLED', 'pause', 'cannot pause cancelled task'],
    ['CANCELLED', 'resume', 'cannot resume cancelled task'],
    ['TIMEOUT', 'cancel', 'cannot cancel timed out task'],
    ['PAUSED', 'pause', 'task is already paused'],
    ['RUNNING', 'resume', 'task is not paused'],
    ['QUEUED', 'resume', 'task is not paused'],
  ] as const)('a task in %s refuses %s: %s', (status, action, error) => {
    expect(decide(status, action)).toMatchObject({ ok: false, status: 409, error });
  });

  it.each([
    ['RUNNING', 'paused', 'resume'],
    ['PAUSED', 'running', 'pause'],
  ] as const)(
    'in %s, but last asked to be %s, takes %s: the workflow may not have recorded it yet',
    (status, wanted, action) => {
      expect(decide(status, action, {}, wanted)).toEqual({ ok: true, repeat: false });
    },
  );

  it.each([
    ['RUNNING', 'paused', 'pause', 'task is already paused'],
    ['PAUSED', 'running', 'resume', 'task is not paused'],
    ['RUNNING', 'cancelled', 'pause', 'cannot pause cancelled task'],
  ] as const)('in %s, but last asked to be %s, refuses %s', (status, wanted, action, error) => {
    expect(decide(status, action, {}, wanted)).toMatchObject({ ok: false, error });
  });

  it('takes a second cancel, of a task that is cancelled or about to be', () => {
    expect(decide('CANCELLED', 'cancel')).toEqual({ ok: true, repeat: true });
    expect(decide('RUNNING', 'cancel', { is_cancelled: true })).toEqual({ ok: true, repeat: true });
  });

  it('neither pauses nor resumes a task that is about to be cancelled', () => {
    const cancelling = { is_cancelled: true };
    expect(decide('RUNNING', 'pause', cancelling)).toMatchObject({ error: 'cannot pause cancelled task' });
    expect(decide('PAUSED', 'resume', cancelling)).toMatchObject({ error: 'cannot resume cancelled task' });
  });

  it('refuses to cancel a task that completed in spite of a cancel', () => {
    expect(decide('COMPLETED', 'cancel', { is_cancelled: true })).toMatchObject({ status: 409 });
  });

  it('knows the open statuses from the ended ones', () => {
    expect(isEnded('TASK_STATUS_PAUSED')).toBe(false);
    expect(isEnded('TASK_STATUS_FAILED')).toBe(true);
  });
});
