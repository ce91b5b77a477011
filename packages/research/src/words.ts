import { STOP_WORDS } from './stop-words.ts';

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const COMPOUND = /[\p{L}\p{N}]+(?:[-_./@][\p{L}\p{N}]+)+/gu;
/** Scripts that put no space between words: only these need the (slower) dictionary segmenter. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\u3005]+/gu;
const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u');
const CAMEL_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{N}+/gu;
const CAMEL = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u;
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * The words of a text in the form in which texts are compared: NFKC, lower case, plural `s` removed; unspaced
 * scripts by dictionary; an identifier as a whole and by its parts (`continueAsNew`, `p-limit`).
 */
export function words(text: string): string[] {
  const normal = text.normalize('NFKC');
  const found: string[] = [];
  for (const [compound] of normal.matchAll(COMPOUND)) {
    if (!HAS_UNSPACED.test(compound)) found.push(compound.toLowerCase());
  }
  for (const [run] of normal.matchAll(WORD)) {
    if (HAS_UNSPACED.test(run)) pushUnspaced(run, found);
    else pushSpaced(run, found);
  }
  return found;
}

/** The words that carry meaning: `words` without those that every text has. */
export function contentWords(text: string): string[] {
  return words(text).filter((word) => !STOP_WORDS.has(word));
}

function pushSpaced(run: string, found: string[]): void {
  found.push(stem(run.toLowerCase()));
  if (!CAMEL.test(run)) return;
  for (const [part] of run.matchAll(CAMEL_PARTS)) found.push(stem(part.toLowerCase()));
}

function pushUnspaced(run: string, found: string[]): void {
  let end = 0;
  for (const match of run.matchAll(UNSPACED)) {
    if (match.index > end) pushSpaced(run.slice(end, match.index), found);
    for (const { segment, isWordLike } of segmenter.segment(match[0])) if (isWordLike) found.push(segment);
    end = match.index + match[0].length;
  }
  if (end < run.length) pushSpaced(run.slice(end), found);
}

function stem(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  return word.endsWith('ies') && word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
}

const SUFFIX = /(?:ations?|ings?|ions?|ments?|ables?|ers?|ed|es|ly|al|e)$/;
const LATIN = /^[\p{Script=Latin}]+$/u;

/** A word without its English ending, so that `limited`, `limiting` and `limit` are one; other scripts as they are. */
export function root(word: string): string {
  if (word.length < 6 || !LATIN.test(word)) return word;
  const cut = word.replace(SUFFIX, '');
  return cut.length >= 4 ? cut : word;
}
