import type { z } from 'zod';

/**
 * A check for `superRefine`: text longer than `limit` is an issue with the contract's text, whose `params` say the
 * limit and the length, as further fields of the error body.
 * @param measure what the limit counts: bytes or code points
 */
export function atMost(limit: number, measure: (text: string) => number, message: string) {
  return (text: string, context: z.RefinementCtx): void => {
    const length = measure(text);
    if (length > limit) context.addIssue({ code: 'custom', message, params: { limit, length } });
  };
}
