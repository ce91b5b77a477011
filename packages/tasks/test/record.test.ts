import { TaskBody, TaskList } from '@plangate/contracts';
import { describe, expect, it } from 'vitest';
import { sessionTitle, TaskRecord, toListItem, toTaskBody } from '../src/index.ts';
import { aRecord } from './records.ts';

describe('a record', () => {
  it('of a new task is queued, unconfirmed, and keeps its schema', () => {
    const record = aRecord();
    expect(TaskRecord.parse(record)).toEqual(record);
    expect(record).toMatchObject({
      status: 'TASK_STATUS_QUEUED',
      start: { token: 'token-1', confirmed: false },
      review: { timeout_seconds: 900, max_rounds: 10 },
    });
  });

  it('shows no error and no completion while there is none', () => {
    const body = toTaskBody(aRecord());
    expect(TaskBody.parse(body)).toEqual(body);
    expect(body).not.toHaveProperty('error');
    expect(body).not.toHaveProperty('error_message');
    expect(body).not.toHaveProperty('completed_at');
  });

  it('shows its error under both names', () => {
    const body = toTaskBody({
      ...aRecord(),
      error: 'task cancelled',
      completed_at: '2026-01-01T00:00:00.000Z',
    });
    expect(body).toMatchObject({ error: 'task cancelled', error_message: 'task cancelled' });
    expect(body.completed_at).toBe('2026-01-01T00:00:00.000Z');
  });

  it('shows nothing of owner, start or input', () => {
    const text = JSON.stringify(toTaskBody(aRecord({ token: 'secret-token' })));
    expect(text).not.toContain('secret-token');
    expect(text).not.toContain('acme');
  });

  it('is listed with its usage', () => {
    const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7, estimated_cost: 0.5 };
    const item = toListItem({ ...aRecord(), usage });
    expect(TaskList.shape.tasks.element.parse(item)).toEqual(item);
    expect(item.total_token_usage).toEqual({
      total_tokens: 7,
      cost_usd: 0.5,
      prompt_tokens: 3,
      completion_tokens: 4,
    });
  });
});

describe('the title of a session', () => {
  it('is one line of at most 60 code points, cut between graphemes', () => {
    expect(sessionTitle('  one\n two\t three ')).toBe('one two three');
    expect([...sessionTitle('字'.repeat(80))].length).toBe(60);
    const family = '👨‍👩‍👧';
    expect(sessionTitle(`${'a'.repeat(58)}${family}`)).toBe('a'.repeat(58));
  });
});
