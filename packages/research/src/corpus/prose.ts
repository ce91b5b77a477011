const FENCED = /^[ \t]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm;
const TABLE_ROW = /^.*\|.*\|.*$/gm;
/** A list entry such as `- ttl (number) time in ms`, which names a thing and says no sentence. */
const ENTRY = /^\s*(?:[-*+]|\d{1,3}[.)])\s.*[^.!?。！？:：\s]\s*$/gm;
/** So many letters of prose make a passage worth reading in full. */
const ENOUGH = 240;
const LEAST_WORTH = 0.4;
const SIGNATURE_WORTH = 0.6;
const SIGNATURE = /\w\(|=>|[\])]\s*$/;

/**
 * How much of a passage is there to read, from about 0.25 to 1: signatures, code and lists of options match a search
 * by a few words in little text, but tell less than sentences do.
 */
export function proseWorth({ heading, text }: { heading: string; text: string }): number {
  const prose = text.replace(FENCED, '').replace(TABLE_ROW, '').replace(ENTRY, '');
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  const wide = prose.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const share = Math.min(1, (letters + 3 * wide) / ENOUGH);
  return (LEAST_WORTH + (1 - LEAST_WORTH) * share) * (SIGNATURE.test(heading) ? SIGNATURE_WORTH : 1);
}
