import type { Passage } from '@plangate/contracts';
import { isDependent, type Keys, keysOf, matches, wordSet } from './keys.ts';

/** A sentence of a passage, letter by letter apart from line breaks, and how well it fits. */
export interface Sentence<P> {
  text: string;
  passage: P;
  score: number;
  /** Place among the sentences of its passage. */
  at: number;
  /** The heading that it stands under: a passage may hold several short sections. */
  heading: string;
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
/** Starts that point back to what was said before. */
const NEEDS_CONTEXT =
  /^(?:it|its|this|that|these|those|they|he|she|such|both|also|however|therefore|thus|hence|then|and|but|or|so|otherwise|besides,|instead,|finally|additionally|moreover|furthermore|similarly|likewise|consequently|defaults?|returns?|if (?:true|false|so|not)\b|same as|that said|for (?:example|instance)|in (?:this|that|both|either|such) |in addition|as a result|to do so|note that (?:this|it|these)|now|like|even then|we|i|(?:when|if|with|because|unless|while) (?:it|they|this|that|these|those|so)|(?:all|most|some|none|each|one|both) of (?:this|these|them|those)|the (?:above|below|following|latter|former|same|other|second|third|last|example|(?:default )?value|option|function|result|parameter|argument|callback)s?\b(?! of\b| `))\b|^.{0,40}\b(?:here\b|(?:this|these|those) (?:option|behaviou?r|feature|method|function|value|setting|property|parameter|argument|command|case|event|flag|issue|way|mode|approach|scheme|example|section|error|keyword|class|package)s?\b)/iu;
/** What a document says of itself where it begins. */
const SELF = /^(?:this|it) (?:is an? |package |module |library |project )/i;
const ENDED = /[.!。！][)"'”’*_`]*$/u;
/** `name`: meaning, an option with what it does. */
const DEFINED = /^`[^`]+`(?: \([^)]*\))?\s*[:–—-]\s+\S/u;
/** Looks like code: a call, a member, a name in camel case. */
export const SIGNATURE = /[()[\]{}<>=`$]|\w\.\w|\p{Ll}\p{Lu}/u;
const LONGEST = 360;
const LONGEST_HEADING = 60;
const IN_CONTEXT = 1;
const FURTHER_OF_DOCUMENT = 0.3;
const LONGEST_WIDE = 200;

/**
 * The sentences of a passage that can stand alone: no code, no tables, no links, no headings, no fragments. One that
 * leans on the sentence before it is taken together with that one, as is what is said of an option with its name.
 */
export function sentencesOf<P extends Passage>(passage: P): Omit<Sentence<P>, 'score'>[] {
  let heading = passage.heading;
  return blocksOf(passage.text)
    .flatMap((block, index, blocks) => {
      if (isHeading(block) && index < blocks.length - 1) heading = block.trim();
      const under = heading;
      return splitBlock(block).map((unit) => ({ unit, under, isFirst: index === 0 }));
    })
    .flatMap(({ unit, under, isFirst }) =>
      standingAlone(splitSentences(unit), isFirst).map((text) => ({ text, heading: under })),
    )
    .map(({ text, heading }, at) => ({ text, passage, at, heading }))
    .filter(({ text }) => readsWell(text));
}

/** A short line by itself that ends no sentence. */
function isHeading(block: string): boolean {
  return (
    !/\n|[.!?:;,。！？：]\s*$/.test(block.trim()) && block.length <= LONGEST_HEADING && !MARKER.test(block)
  );
}

function standingAlone(sentences: readonly string[], isFirstUnit: boolean): string[] {
  const found: string[] = [];
  const defined = DEFINED.test(sentences[0] ?? '');
  let before = '';
  for (const [index, sentence] of sentences.entries()) {
    const self = isFirstUnit && index === 0 && SELF.test(sentence);
    const leans = NEEDS_CONTEXT.test(sentence) || (defined && index > 0);
    if (self || !leans) before = sentence;
    else if (before !== '' && before.length + sentence.length < LONGEST) before = `${before} ${sentence}`;
    else {
      before = '';
      continue;
    }
    found.push(before);
  }
  return found;
}

/**
 * The sentences that say something about the keys, each with its score: rare keys count more, those of the heading
 * half, words of the wider context least. Where the keys name only a side of things, such as their defaults, a
 * sentence must be about the context as well, unless none is.
 */
export function fittingSentences<P extends Passage>(
  passages: readonly P[],
  keys: Keys,
  context: Keys,
): Sentence<P>[] {
  const weights = weighed(passages, keys);
  const dependent = isDependent(keys) && context.length > 0;
  const found = passages.flatMap((passage) => {
    return sentencesOf(passage).flatMap((sentence) => {
      const under = wordSet(sentence.heading);
      const around = new Set([...under, ...wordSet(passage.title)]);
      const words = wordSet(sentence.text);
      const own = weightOf(weights, words);
      const about = isAboutHeading(keys, sentence.heading);
      if (!about && (own === 0 || !isAbout(keys, words, around))) return [];
      const shared = matches(context, words);
      const fits = shared > 0 || matches(context, under) > 0;
      const score =
        own +
        0.5 * weightOf(weights, under) +
        0.3 * shared +
        form(sentence.text, sentence.at) +
        (dependent && fits ? IN_CONTEXT : 0);
      return [{ ...sentence, score, fits }];
    });
  });
  const fitting = dependent && found.some(({ fits }) => fits) ? found.filter(({ fits }) => fits) : found;
  return fitting.map(({ fits: _, ...sentence }) => sentence);
}

/** True for a heading in words that names all of the keys and little else: what stands under it is about them. */
export function isAboutHeading(keys: Keys, heading: string): boolean {
  if (keys.length === 0 || SIGNATURE.test(heading)) return false;
  return matches(keys, wordSet(heading)) === keys.length && keysOf(heading).length <= 3 * keys.length;
}

/** True for what a document says of itself at its beginning. */
export function isIntroduction(text: string): boolean {
  return SELF.test(text);
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
 * The best sentences, at most `limit` and at most `perPassage` of one passage, none twice or nearly so, nor like one
 * of `said`. Each further sentence of a document counts a little less, so that the others are heard.
 */
export function bestSentences<P extends Passage>(
  sentences: readonly Sentence<P>[],
  limit: number,
  perPassage: number,
  said: readonly string[] = [],
): Sentence<P>[] {
  const taken: Sentence<P>[] = [];
  let left = sentences.filter(({ text }) => !said.some((other) => isAlike(other, text)));
  while (taken.length < limit && left.length > 0) {
    const worth = (sentence: Sentence<P>) =>
      sentence.score -
      FURTHER_OF_DOCUMENT * taken.filter(({ passage }) => passage.url === sentence.passage.url).length;
    const next = left.reduce((best, sentence) => (worth(sentence) > worth(best) ? sentence : best));
    taken.push(next);
    const ofPassage = taken.filter(({ passage }) => passage.id === next.passage.id).length;
    left = left.filter(
      (sentence) =>
        !isAlike(sentence.text, next.text) &&
        (ofPassage < perPassage || sentence.passage.id !== next.passage.id),
    );
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
    .filter((block) => (MARKER.test(block) || !/^(?: {4}|\t)/.test(block)) && !/^\s*#{1,6}\s/.test(block));
}

function splitBlock(block: string): string[] {
  const units: string[] = [];
  for (const line of block.split('\n')) {
    const marked = MARKER.test(line);
    if (marked || units.length === 0) units.push(line.replace(MARKER, ''));
    else units.push(`${units.pop()} ${line.trim()}`);
  }
  return units;
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
  if (CJK.test(text)) return text.length >= 12 && text.length <= LONGEST_WIDE;
  if (!ENDED.test(text) && !DEFINED.test(text)) return false;
  const count = text.split(/\s+/).length;
  return (
    text.length >= 30 &&
    text.length <= LONGEST &&
    count >= 5 &&
    /^[\p{Lu}\p{N}`"'“*_(@]|^\p{Ll}+[\p{Lu}\p{N}]|^[a-z]{3,} (?:is|are|will|can|does|uses|has|supports)\b/u.test(
      text,
    )
  );
}

/** Whole sentences that stand at the start of their passage read best, then options that say what they do. */
function form(text: string, at: number): number {
  const whole = ENDED.test(text) ? 0.3 : -0.3;
  const stated = /\bdefaults?\b[^.]{0,40}(?:`[^`]+`|\d|\b(?:true|false|null|disabled|enabled)\b)/i.test(text)
    ? 0.3
    : 0;
  return whole + stated + (text.length > 240 ? -0.2 : 0) + Math.max(0, 0.2 - at * 0.05);
}

function isAlike(one: string, other: string): boolean {
  const a = wordSet(one);
  const b = wordSet(other);
  const common = Array.from(a).filter((word) => b.has(word)).length;
  return common >= 0.7 * Math.min(a.size, b.size);
}
