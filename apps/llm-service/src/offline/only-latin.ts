import { isOpinion } from './opinion.ts';

const BEFORE = /^\s*(?:only|solely|exclusively|just|hanya)\s+/i;
const AFTER =
  /[\s,]+(?:only|alone|solely|exclusively|saja)(?=(?:[\s,]+(?:please|thanks|ya|tolong|and|but|then|dan))*[\s,]*$)/i;
const NOTHING_ELSE =
  /[\s,]+(?:(?:and|dan)\s+)?(?:nothing (?:else|more)|no others?|yang lain tidak)(?=[\s,]*$)/i;
const TAKE = /^\s*(?:(?:please|use|take|stick with|stay with|go with|tolong|pakai|gunakan)\s+)+/i;
const MOST_WORDS = 8;

/** What a text keeps a plan to: `only redlock`, `redlock only`, `redlock, nothing else`; undefined where it does not. */
export function keptTo(text: string): string | undefined {
  const what = text.replace(NOTHING_ELSE, '').replace(AFTER, '').replace(BEFORE, '');
  return what === text ? undefined : what;
}

/**
 * The same of words without an order among them, such as `Use redlock only`, or before one, as in `redlock only, and
 * drop prices`.
 * @param isAll false where an order follows: `just one thing: …` is none then
 */
export function keptToWithoutOrder(text: string, isAll: boolean): string | undefined {
  const bare = text.replace(TAKE, '');
  if (bare.trim().split(/\s+/).length > MOST_WORDS || isOpinion(bare)) return undefined;
  return isAll || !BEFORE.test(bare) ? keptTo(bare) : undefined;
}
