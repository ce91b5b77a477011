import { STOP_WORDS } from './stop-words.ts';
import { root, words } from './words.ts';

/** Which words of a sentence stand under a negation, and which do not. */
export type Polarity = { negated: ReadonlySet<string>; plain: ReadonlySet<string> };

const BEFORE = new Set(
  'not no never without nor neither cannot unable tidak bukan tanpa jangan belum 不 没 沒 未 无 無 非 不是 没有 沒有 不会 不能 不再'.split(
    ' ',
  ),
);
/** Dictionaries cut these endings into pieces, so they are made one word first. */
const AT_THE_END = /ません(?:でした)?|なかった|なくて|なく(?=、)|ない/g;
const AFTER = new Set(['ない']);
const FUSED = /^([不没沒未无無非])(.+)$/u;
const REACH = 1;
const REACH_BACK_WORDS = 4;
const OPPOSITES = [
  'faster slower',
  'more fewer',
  'more less',
  'higher lower',
  'increase decrease',
  'always never',
  'enable disable',
  'enabled disabled',
  'allow forbid',
  'required optional',
  'synchronous asynchronous',
  'minimum maximum',
  'safe unsafe',
  'support unsupported',
  'true false',
  'success failure',
].map((pair) => pair.split(' ').map((word) => root(word)));

export function polarity(text: string): Polarity {
  const spelled = text
    .replace(/n['’]t\b/gi, ' not')
    .replace(/\bnot only\b/gi, ' ')
    .replace(AT_THE_END, ' ない ');
  const negated = new Set<string>();
  const plain = new Set<string>();
  const seen: string[] = [];
  let reach = 0;
  for (const word of words(spelled)) {
    const fused = FUSED.exec(word)?.[2];
    if (BEFORE.has(word)) reach = REACH;
    else if (AFTER.has(word)) flip(seen.slice(-REACH_BACK_WORDS), negated, plain);
    else if (fused) negated.add(fused);
    else if (!STOP_WORDS.has(word)) {
      (reach > 0 ? negated : plain).add(root(word));
      seen.push(root(word));
      reach -= 1;
    }
  }
  return { negated, plain };
}

/** True when one of the two denies what the other says, as far as single words show it. */
export function contradicts(claim: Polarity, source: Polarity): boolean {
  return denies(claim, source) || denies(source, claim) || opposed(claim.plain, source.plain);
}

function denies(one: Polarity, other: Polarity): boolean {
  for (const word of one.negated) {
    if (!one.plain.has(word) && other.plain.has(word) && !other.negated.has(word)) return true;
  }
  return false;
}

function opposed(claim: ReadonlySet<string>, source: ReadonlySet<string>): boolean {
  const differs = (said = '', meant = '') =>
    claim.has(said) && !claim.has(meant) && source.has(meant) && !source.has(said);
  return OPPOSITES.some(([left, right]) => differs(left, right) || differs(right, left));
}

/** Japanese negates at the end: the nearest word before it is the one denied. */
function flip(before: readonly string[], negated: Set<string>, plain: Set<string>): void {
  const word = before.findLast((candidate) =>
    /[\p{Script=Han}\p{Script=Katakana}\p{Script=Latin}]{2,}/u.test(candidate),
  );
  if (!word) return;
  plain.delete(word);
  negated.add(word);
}
