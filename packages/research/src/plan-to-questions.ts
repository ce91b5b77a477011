import { cleanText, cutToBytes, type Question } from '@plangate/contracts';
import { markdownLines } from './markdown.ts';
import { sentences } from './sentences.ts';
import { contentWords } from './words.ts';

const ITEM =
  /^(\s*)(?:[-*+•・‣–—]\s+|[•・‣]|\(?\d{1,3}[.)、．）]\s*(?!\d)|[①-⑳]\s*|[（(]?[一二三四五六七八九十]{1,3}[、．.）)]\s*|[a-z][.)]\s+)(.+)$/iu;
const HEADING = /^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+)\*\*\s*[:：]?)\s*$/;
/** A line that says what the plan leaves out. */
const LEFT_OUT =
  /\b(?:left out|leav(?:e|es|ing) out|not (?:be )?covered|not (?:be )?included|will not (?:cover|include)|won['’]t (?:cover|include)|out of scope|exclud(?:e|es|ed|ing)|exclusions?|omitted|skipp?(?:ed|ing)|non-goals?)\b|対象外|除外|含まない|含めない|扱わない|取り上げない|省く|不包括|不包含|不涉及|不涵盖|不涵蓋|排除|範圍外|范围外|\b(?:tidak (?:termasuk|mencakup|dibahas|disertakan)|dikecualikan|di luar cakupan|pengecualian)\b/iu;
const INTENT = /^\s*[*_`]*\[INTENT:\w+\][*_`]*\s*$/i;
const QUESTION_BYTES = 600;
const MOST_TERMS = 8;

type Line = { indent: number; text: string; kind: 'item' | 'heading' | 'prose' };

/**
 * Questions from the text of a plan without a model: its list items, else its headings, else its sentences, in
 * their order, without what the plan leaves out. `[]` for a plan that holds nothing to look up.
 */
export function planToQuestions(plan: string, { maxQuestions }: { maxQuestions: number }): Question[] {
  const lines = covered(readLines(cleanText(plan)));
  const candidates =
    [fromItems(lines), fromHeadings(lines), fromProse(lines)].find((some) => some.length > 0) ?? [];
  const distinct = new Map<string, { text: string; detail: string }>();
  for (const candidate of candidates) {
    const key = contentWords(candidate.text).join(' ');
    if (key !== '' && !distinct.has(key)) distinct.set(key, candidate);
  }
  return [...distinct.values()].slice(0, maxQuestions).map(({ text, detail }, index) => ({
    id: `q${index + 1}`,
    text: cutToBytes(text, QUESTION_BYTES),
    terms: termsOf(`${text} ${detail}`),
  }));
}

function readLines(plan: string): Line[] {
  return markdownLines(plan)
    .filter(({ text, code }) => !code && text.trim() !== '' && !INTENT.test(text))
    .map(({ text }): Line => {
      const heading = HEADING.exec(text);
      if (heading) return { indent: 0, kind: 'heading', text: plain(heading[1] ?? heading[2] ?? '') };
      const item = ITEM.exec(text);
      if (item) return { indent: item[1]?.length ?? 0, kind: 'item', text: plain(item[2] ?? '') };
      return { indent: 0, kind: 'prose', text: plain(text) };
    })
    .filter(({ text }) => text !== '');
}

/** A line on what is left out goes; where it introduces a list (a heading, or a colon at its end), that goes too. */
function covered(lines: readonly Line[]): Line[] {
  const kept: Line[] = [];
  let leftOut: Line | undefined;
  for (const line of lines) {
    if (leftOut && belongsTo(line, leftOut)) continue;
    leftOut = undefined;
    if (!LEFT_OUT.test(line.text)) kept.push(line);
    else if (line.kind === 'prose' && !/[:：]$/.test(line.text))
      kept.push({ ...line, text: coveredSentences(line.text) });
    else leftOut = line;
  }
  return kept.filter(({ text }) => text !== '');
}

function belongsTo(line: Line, leftOut: Line): boolean {
  if (leftOut.kind === 'item') return line.kind === 'item' && line.indent > leftOut.indent;
  return line.kind === 'item' || (leftOut.kind === 'heading' && line.kind === 'prose');
}

function coveredSentences(text: string): string {
  return sentences(text)
    .map(({ start, end }) => text.slice(start, end))
    .filter((sentence) => !LEFT_OUT.test(sentence))
    .join('')
    .trim();
}

type Candidate = { text: string; detail: string };

/** Items of the outermost level; what is nested adds words to the search. */
function fromItems(lines: readonly Line[]): Candidate[] {
  const items = lines.filter((line) => line.kind === 'item');
  const outermost = items.reduce((least, { indent }) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  const candidates: Candidate[] = [];
  for (const { indent, text } of items) {
    const last = candidates.at(-1);
    if (indent <= outermost || !last) candidates.push({ text, detail: '' });
    else last.detail += ` ${text}`;
  }
  return candidates;
}

function fromHeadings(lines: readonly Line[]): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { kind, text } of lines) {
    const last = candidates.at(-1);
    if (kind === 'heading') candidates.push({ text, detail: '' });
    else if (last) last.detail += ` ${text}`;
  }
  const withText = candidates.filter(({ detail }) => detail !== '');
  return withText.length > 1 ? withText : [];
}

function fromProse(lines: readonly Line[]): Candidate[] {
  const prose = lines.filter(({ kind }) => kind === 'prose').map(({ text }) => text);
  const texts = prose.length > 0 ? prose : lines.map(({ text }) => text);
  return texts.flatMap((text) =>
    sentences(text).map(({ start, end }) => ({ text: text.slice(start, end).trim(), detail: '' })),
  );
}

function termsOf(text: string): string[] {
  const terms = contentWords(text).filter((word) => !/^(?:\p{N}+|[a-z])$/u.test(word));
  return [...new Set(terms)].slice(0, MOST_TERMS);
}

function plain(text: string): string {
  return text
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/^\[[ xX]\]\s*/, '')
    .replace(/\*\*|__|`/g, '')
    .trim();
}
