import { describe, expect, it, test } from 'vitest';
import { describeEnd, type TaskEnd } from '../src/index.ts';

const ENDS: [TaskEnd, status: string, error: string | null, events: string][] = [
  [{ kind: 'completed', result: '# R' }, 'COMPLETED', null, 'WORKFLOW_COMPLETED'],
  [{ kind: 'review_timed_out' }, 'COMPLETED', 'research plan review timed out', 'WORKFLOW_COMPLETED'],
  [
    { kind: 'rejected', reason: 'too wide' },
    'CANCELLED',
    'research plan rejected: too wide',
    'WORKFLOW_CANCELLED',
  ],
  [{ kind: 'rejected', reason: '' }, 'CANCELLED', 'research plan rejected', 'WORKFLOW_CANCELLED'],
  [{ kind: 'cancelled' }, 'CANCELLED', 'task cancelled', 'WORKFLOW_CANCELLED'],
  [{ kind: 'cancelled', reason: 'late' }, 'CANCELLED', 'task cancelled: late', 'WORKFLOW_CANCELLED'],
  [{ kind: 'plan_failed' }, 'FAILED', 'failed to generate research plan', 'ERROR_OCCURRED WORKFLOW_FAILED'],
  [{ kind: 'research_failed', reason: 'no source' }, 'FAILED', 'no source', 'ERROR_OCCURRED WORKFLOW_FAILED'],
  [{ kind: 'answer_failed', reason: 'no model' }, 'FAILED', 'no model', 'ERROR_OCCURRED WORKFLOW_FAILED'],
  [{ kind: 'not_started' }, 'FAILED', 'task could not be started', 'ERROR_OCCURRED WORKFLOW_FAILED'],
  [{ kind: 'lost' }, 'FAILED', 'task ended without a result', 'ERROR_OCCURRED WORKFLOW_FAILED'],
];

describe('the ends of a task', () => {
  test.each(ENDS)('%j is %s with error %s', (end, status, error, types) => {
    const described = describeEnd(end);
    expect(described.status).toBe(`TASK_STATUS_${status}`);
    expect(described.error).toBe(error);
    expect(described.result).toBe(end.kind === 'completed' ? end.result : '');
    expect(described.events.map((event) => event.type).join(' ')).toBe(`${types} STREAM_END`);
    expect(described.events.map((event) => event.key)).toEqual([
      ...(types.startsWith('ERROR') ? ['end:error'] : []),
      'end:terminal',
      'end:stream',
    ]);
  });

  it('says All done, and the code of a failure', () => {
    expect(describeEnd({ kind: 'completed', result: '' }).events[0]).toMatchObject({
      message: 'All done',
      agent_id: 'orchestrator',
    });
    expect(describeEnd({ kind: 'plan_failed' }).events[0]?.payload).toEqual({ code: 'plan_failed' });
  });

  it('the reason of a failed plan stands in the error event; the error stays the documented text', () => {
    const described = describeEnd({ kind: 'plan_failed', reason: 'no key' });
    expect(described.error).toBe('failed to generate research plan');
    expect(described.events.map(({ message, payload }) => [message, payload])).toEqual([
      ['failed to generate research plan: no key', { code: 'plan_failed', reason: 'no key' }],
      ['failed to generate research plan', undefined],
      ['', undefined],
    ]);
  });
});
