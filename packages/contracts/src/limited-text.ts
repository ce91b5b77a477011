import { z } from 'zod';
import { cleanText, codePoints, isBlank } from './text.ts';

const REASON_LIMIT_CHARACTERS = 2_000;

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

/** A person's reason, which may be left out; a blank one counts as none. */
export const Reason = z
  .string({ error: 'Invalid request body' })
  .transform(cleanText)
  .superRefine(atMost(REASON_LIMIT_CHARACTERS, codePoints, 'reason exceeds maximum length (2000 characters)'))
  .transform((text) => (isBlank(text) ? undefined : text))
  .nullish();
