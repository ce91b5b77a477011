import type { Passage } from '@plangate/contracts';
import { type Keys, matches, wordSet } from './keys.ts';

/** A sentence of a passage, letter by letter apart from line breaks, and how well it fits. */
export interface Sentence<P> {
  text: string;
  passage: P;
  score: number;
  /** Place among the sentences of its passage. */
  at: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const FENCED = /^[ \t]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t]*\1[ \t]*$|$(?![\s\S]))/gm;
const MARKER = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ x]\]\s+)?/;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Ends that are no end of a sentence. */
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|Mr|Dr|No)\.|\b\p{Lu}\.)\s*$/u;
const NOISE =
  /https?:|www\.|\]\(|\[\d+\]|\[[^\]]*\]\[|[{}]|=>|;\s*$|:\s*$|^\W*$|\||^\s*>|<\/?[a-z]|\$ |^(?:npm|yarn|pnpm|npx|import|const|let|var|return|await)\b/i;
const CHATTER =
  /^(?:see|for more|for details|check out|click|here(?:'s| is| are)|please|thanks|thank you|install|to install|read|note that this readme|copyright|licen[sc]ed|star|follow|join|feel free|contribut|example|usage|you can find|more (?:info|details|examples))\b|\b(?:below|following|above)\b[^.]*[:.]?$|\?$/i;
const NEEDS_CONTEXT =
  /^(?:it|this|that|these|those|they|he|she|such|also|however|therefore|then|and|but|or|so|otherwise|defaults?|returns?|if true|if false|same as|that said)\b/i;

/** The sentences of a passage that can stand alone: no code, no tables, no links, no headings. */
export function sentencesOf<P extends Passage>(passage: P): Omit<Sentence<P>, 'score'>[] {
  return blocksOf(passage.text)
    .flatMap(splitBlock)
    .map((text, at) => ({ text, passage, at }))
    .filter(({ text }) => readsWell(text));
}

/**
 * The sentences that say something about the keys, each with its score: rare keys count more, those of the heading
 * half, words of the wider context least.
 */
export function fittingSentences<P extends Passage>(
  passages: readonly P[],
  keys: Keys,
  context: Keys,
): Sentence<P>[] {
  const weights = weighed(passages, keys);
  return passages.flatMap((passage) => {
    const around = wordSet(`${passage.heading} ${passage.title}`);
    const heading = 0.5 * weightOf(weights, wordSet(passage.heading));
    return sentencesOf(passage).flatMap((sentence) => {
      const words = wordSet(sentence.text);
      const own = weightOf(weights, words);
      if (own === 0 || !isAbout(keys, words, around)) return [];
      const score = own + heading + 0.3 * matches(context, words) + form(sentence.text, sentence.at);
      return [{ ...sentence, score }];
    });
  });
}

/** One word in common of several is chance, unless heading or title have it too. */
function isAbout(keys: Keys, words: ReadonlySet<string>, around: ReadonlySet<string>): boolean {
  if (matches(keys, new Set([...words, ...around])) >= Math.min(2, keys.length)) return true;
  return keys.some((key) => matches([key], words) > 0 && matches([key], around) > 0);
}

type Weights = readonly { key: Keys; weight: number }[];

/** A key that few of the passages have tells more than one that all have. */
function weighed(passages: readonly Passage[], keys: Keys): Weights {
  const sets = passages.map(({ text, heading, title }) => wordSet(`${title} ${heading} ${text}`));
  return keys.map((key) => {
    const having = sets.filter((words) => matches([key], words) > 0).length;
    return { key: [key], weight: 1 + Math.log((sets.length + 1) / (having + 1)) };
  });
}

function weightOf(weights: Weights, words: ReadonlySet<string>): number {
  return weights.reduce((sum, { key, weight }) => sum + (matches(key, words) > 0 ? weight : 0), 0);
}

/**
 * The best sentences, at most `limit` and at most `perPassage` of one passage, none twice or nearly so.
 */
export function bestSentences<P extends Passage>(
  sentences: readonly Sentence<P>[],
  limit: number,
  perPassage: number,
): Sentence<P>[] {
  const taken: Sentence<P>[] = [];
  for (const sentence of sentences.toSorted((a, b) => b.score - a.score)) {
    if (taken.length >= limit) break;
    const ofPassage = taken.filter(({ passage }) => passage.id === sentence.passage.id).length;
    if (ofPassage < perPassage && !taken.some(({ text }) => isAlike(text, sentence.text)))
      taken.push(sentence);
  }
  return taken;
}

/** The text without its fenced code. */
export function withoutCode(text: string): string {
  return text.replace(FENCED, '\n\n');
}

function blocksOf(text: string): string[] {
  return withoutCode(text)
    .split(/\n\s*\n/)
    .filter((block) => !/^(?: {4}|\t)/.test(block) && !/^\s*#{1,6}\s/.test(block));
}

function splitBlock(block: string): string[] {
  const units: string[] = [];
  for (const line of block.split('\n')) {
    const marked = MARKER.test(line);
    if (marked || units.length === 0) units.push(line.replace(MARKER, ''));
    else units.push(`${units.pop()} ${line.trim()}`);
  }
  return units.flatMap(splitSentences);
}

function splitSentences(unit: string): string[] {
  const found: string[] = [];
  for (const { segment } of segmenter.segment(unit.replace(/\s+/g, ' ').trim())) {
    const last = found.at(-1);
    if (last !== undefined && ABBREVIATION.test(last)) found[found.length - 1] = last + segment;
    else found.push(segment);
  }
  return found.map((sentence) => sentence.trim());
}

function readsWell(text: string): boolean {
  const plain = text.replace(/`[^`]*`/g, 'x');
  const letters = plain.match(/\p{L}/gu)?.length ?? 0;
  if (NOISE.test(plain) || CHATTER.test(text) || letters < plain.length * 0.55) return false;
  if ((text.match(/`/g)?.length ?? 0) % 2 === 1) return false;
  if (CJK.test(text)) return text.length >= 12 && text.length <= 200;
  const count = text.split(/\s+/).length;
  return text.length >= 35 && text.length <= 360 && count >= 6;
}

/** Whole sentences that stand at the start of their passage and need no context read best. */
function form(text: string, at: number): number {
  const whole = /[.!。！]$/.test(text) ? 0.3 : -0.3;
  const alone = NEEDS_CONTEXT.test(text) ? -0.4 : 0;
  const entry = /^`[^`]*`\s*(?:[-–—:(]|[a-z]|$)/.test(text) && !/[.!。！]$/.test(text) ? -0.3 : 0;
  const capital = /^[\p{Lu}\p{Lo}`]/u.test(text) ? 0.1 : -0.2;
  return whole + alone + entry + capital + (text.length > 240 ? -0.2 : 0) + Math.max(0, 0.2 - at * 0.05);
}

function isAlike(one: string, other: string): boolean {
  const a = wordSet(one);
  const b = wordSet(other);
  const common = Array.from(a).filter((word) => b.has(word)).length;
  return common >= 0.7 * Math.min(a.size, b.size);
}
