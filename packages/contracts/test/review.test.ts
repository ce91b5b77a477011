import { describe, expect, it } from 'vitest';
import { ControlBody, ReviewAction } from '../src/index.ts';

function errorOf(body: unknown): string | undefined {
  return ReviewAction.safeParse(body).error?.issues[0]?.message;
}

describe('the body of a review POST (contract §2.2)', () => {
  it.each(['', null, 'APPROVE', 'accept', 0, {}, undefined, 'approve '])(
    'P19 action %j is refused with the one text',
    (action) => {
      expect(errorOf({ action })).toBe("action must be 'feedback' or 'approve'");
    },
  );

  it.each([
    [{ action: 'feedback' }, 'message is required for feedback'],
    [{ action: 'feedback', message: 5 }, 'message is required for feedback'],
    [{ action: 'feedback', message: '　' }, 'message is required for feedback'],
    [{ action: 'feedback', message: 'a'.repeat(10_241) }, 'message exceeds maximum length (10KB)'],
    [{ action: 'edit' }, 'plan is required for edit'],
    [{ action: 'edit', plan: '研'.repeat(21_846) }, 'plan exceeds maximum length (64KB)'],
    [{ action: 'reject', reason: 'x'.repeat(2_001) }, 'reason exceeds maximum length (2000 characters)'],
    [{ action: 'extend' }, 'seconds must be an integer between 1 and 2592000'],
    [{ action: 'extend', seconds: 1.5 }, 'seconds must be an integer between 1 and 2592000'],
    [{ action: 'extend', seconds: '60' }, 'seconds must be an integer between 1 and 2592000'],
    [{ action: 'extend', seconds: 2_592_001 }, 'seconds must be an integer between 1 and 2592000'],
  ])('%j: %s', (body, text) => {
    expect(errorOf(body)).toBe(text);
  });

  it('a limit that is exceeded comes with the limit and the length', () => {
    const issue = ReviewAction.safeParse({ action: 'feedback', message: '研'.repeat(3_414) }).error
      ?.issues[0];
    expect(issue).toMatchObject({ params: { limit: 10_240, length: 10_242 } });
  });

  it.each(['', ' \u3000 ', '\u200b'])('a blank reason %j counts as none', (reason) => {
    expect(ReviewAction.parse({ action: 'reject', reason })).toEqual({ action: 'reject' });
    expect(ControlBody.parse({ reason }).reason).toBeUndefined();
  });

  it('P17 other fields are ignored, an approver by name too', () => {
    expect(ReviewAction.parse({ action: 'approve', approved_by: 'root', message: 5 })).toEqual({
      action: 'approve',
    });
  });
});
