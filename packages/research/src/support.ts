import type { Passage } from '@plangate/contracts';
import { contradicts, type Polarity, polarity } from './negation.ts';
import { numbersAgree, numbersOf } from './numbers.ts';
import { type Span, textSentences } from './sentences.ts';
import { contentWords, root } from './words.ts';

/** What a passage says about a claim: its best-matching words, letter by letter, and whether they carry it. */
export type Support = { quote: string; holds: boolean };

/** A claim in the form in which it is compared. */
export type Claim = {
  words: ReadonlySet<string>;
  numbers: ReadonlyMap<string, ReadonlySet<string>>;
  polarity: Polarity;
};

/** Share of the claim's content words that the quote must hold, or else the whole passage. */
const QUOTE_SHARE = 0.6;
const PASSAGE_SHARE = 0.75;
const QUOTE_SENTENCES = 3;
/** A shorter quote is preferred unless a further sentence adds more than this share. */
const SENTENCE_PRICE = 0.08;
/** No passage is long enough to carry a claim of more words; the bound keeps huge sentences cheap. */
const MOST_CLAIM_WORDS = 200;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2,}$/u;

export function readClaim(text: string): Claim {
  return { words: rootsOf(text), numbers: numbersOf(text), polarity: polarity(text) };
}

/** A function that compares claims with one passage; the passage is read once. */
export function supportOf(passage: Passage): (claim: Claim) => Support {
  const parts = textSentences(passage.text).map((span) => ({
    span,
    ...compared(passage.text.slice(span.start, span.end)),
  }));
  const whole = compared(`${passage.title}\n${passage.heading}\n${passage.text}`);
  const numbers = numbersOf(passage.text);
  /** A quote of several sentences can affirm a word in one and deny it in the other; the closest one decides. */
  const closest = (claim: Claim): string => {
    const sentence = bestWindow(claim, parts, 1);
    return sentence ? passage.text.slice(sentence.span.start, sentence.span.end) : '';
  };
  const known = new WeakMap<Claim, Support>();
  const compare = (claim: Claim): Support => {
    const best = bestWindow(claim, parts, QUOTE_SENTENCES);
    const quote = best ? passage.text.slice(best.span.start, best.span.end) : passage.text;
    if (!best || claim.words.size === 0 || claim.words.size > MOST_CLAIM_WORDS)
      return { quote, holds: false };
    const carried = best.share >= QUOTE_SHARE || (best.share > 0 && share(claim, [whole]) >= PASSAGE_SHARE);
    const holds =
      carried &&
      numbersAgree(claim.numbers, numbers) &&
      !contradicts(claim.polarity, polarity(quote)) &&
      !contradicts(claim.polarity, polarity(closest(claim)));
    return { quote, holds };
  };
  return (claim) => {
    const support = known.get(claim) ?? compare(claim);
    known.set(claim, support);
    return support;
  };
}

type Compared = { roots: ReadonlySet<string>; text: string };

function compared(text: string): Compared {
  return { roots: rootsOf(text), text: text.normalize('NFKC').replace(/\s+/g, ' ') };
}

function bestWindow(
  claim: Claim,
  parts: readonly (Compared & { span: Span })[],
  mostSentences: number,
): { span: Span; share: number } | undefined {
  let best: { span: Span; share: number; worth: number } | undefined;
  const claimWords = [...claim.words].slice(0, MOST_CLAIM_WORDS);
  const held = parts.map((part) => claimWords.map((word) => holds(word, part)));
  for (const [first, { span }] of parts.entries()) {
    const covered = new Set<number>();
    for (let size = 1; size <= mostSentences && first + size <= parts.length; size += 1) {
      for (const [word, yes] of (held[first + size - 1] ?? []).entries()) if (yes) covered.add(word);
      const found = claim.words.size === 0 ? 0 : covered.size / claim.words.size;
      const worth = found - SENTENCE_PRICE * (size - 1);
      if (best && worth <= best.worth) continue;
      best = {
        span: { start: span.start, end: parts[first + size - 1]?.span.end ?? span.end },
        share: found,
        worth,
      };
    }
  }
  return best;
}

function share(claim: Claim, texts: readonly Compared[]): number {
  let found = 0;
  for (const word of claim.words) if (texts.some((text) => holds(word, text))) found += 1;
  return found / claim.words.size;
}

/** Dictionaries cut unspaced scripts differently in different sentences, so there a word may also be part of one. */
function holds(word: string, { roots, text }: Compared): boolean {
  return roots.has(word) || (UNSPACED.test(word) && text.includes(word));
}

function rootsOf(text: string): ReadonlySet<string> {
  return new Set(contentWords(text).map(root));
}
