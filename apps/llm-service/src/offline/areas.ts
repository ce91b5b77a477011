import type { ScoredPassage } from '@plangate/research';
import type { Corpus } from '@plangate/research/corpus';
import { TECHNICAL } from './glossary.ts';
import { type Keys, keysOf, matches, wordSet } from './keys.ts';
import { withoutCode } from './sentences.ts';

/** A subject and the documents that cover it, best first. */
export interface Area {
  title: string;
  documents: string[];
}

export interface Coverage {
  areas: Area[];
  /** Subjects of the query that no document covers. */
  missing: string[];
}

const MOST_AREAS = 6;
const FEWEST_AREAS = 3;
const MOST_DOCUMENTS = 4;
const MOST_OUTLINES = 2;
/** A document this much less fitting than the best one is not named. */
const WEAKEST = 0.35;
const ADMINISTRATIVE =
  /^(?:summary|details|features|motivation|about|overview|quick ?start|getting started|introduction|notes?|faq|documentation|options|methods)$|licen[cs]e|install|contribut|changelog|sponsor|author|credit|table of contents|^usage$|^example|^api$|^readme|acknowledg|badge|security|support|community|development|^test/i;

/** What the documents cover of a query: its subjects where it names several, else the headings that fit. */
export function coverageOf(corpus: Corpus, query: string): Coverage {
  const subjects = subjectsOf(query);
  const areas: Area[] = [];
  const missing: string[] = [];
  for (const subject of subjects) {
    const area = areaFor(corpus, subject);
    if (area.documents.length > 0) areas.push(area);
    else missing.push(subject);
  }
  if (areas.length > 0 && areas.length < FEWEST_AREAS) {
    areas.push(...headingAreas(corpus, subjects, areas, MOST_AREAS - 1 - areas.length));
  }
  return { areas: areas.slice(0, MOST_AREAS), missing };
}

/** A subject with the documents that cover it; `documents` is empty where none does. */
export function areaFor(corpus: Corpus, subject: string): Area {
  const found = new Map<string, number>();
  for (const { title, score } of fitting(corpus, subject)) found.set(title, (found.get(title) ?? 0) + score);
  const ranked = [...found].sort(([, a], [, b]) => b - a);
  const best = ranked[0]?.[1] ?? 0;
  const documents = ranked.filter(([, score]) => score >= best * WEAKEST).map(([title]) => title);
  return { title: capitalised(subject), documents: documents.slice(0, MOST_DOCUMENTS) };
}

/** Passages whose prose covers the subject, best first. */
export function fitting(corpus: Corpus, subject: string): ScoredPassage[] {
  const keys = keysOf(subject);
  if (keys.length === 0) return [];
  return corpus
    .search(subject, { limit: 60, terms: keys.flat(), perDocument: 4 })
    .filter(({ title, heading, text }) => covers(keys, `${title}\n${heading}\n${withoutCode(text)}`));
}

/** True where the text has most of the words that name the subject. */
function covers(keys: Keys, text: string): boolean {
  return matches(keys, wordSet(text)) >= Math.floor(keys.length / 2) + 1;
}

/** Headings that name a subject themselves, or stand in a document about it, as areas of their own. */
function headingAreas(
  corpus: Corpus,
  subjects: readonly string[],
  taken: readonly Area[],
  limit: number,
): Area[] {
  const used = new Set(taken.map(({ title }) => title.toLowerCase()));
  const areas: Area[] = [];
  for (const subject of subjects) {
    const keys = keysOf(subject);
    for (const { heading, title } of [...outlines(corpus, keys), ...fitting(corpus, subject)]) {
      if (areas.length >= limit) return areas;
      const name = heading.replace(/[:：.]+$/, '').trim();
      const key = name.toLowerCase();
      const about = matches(keys, wordSet(`${name} ${title}`)) > 0;
      if (!about || !isReadable(name) || used.has(key) || key === title.toLowerCase()) continue;
      used.add(key);
      areas.push({ title: capitalised(name), documents: [title] });
    }
  }
  return areas;
}

/** The headings of documents whose title names the subject. */
function outlines(corpus: Corpus, keys: Keys): { heading: string; title: string }[] {
  return corpus.documents
    .filter(({ title }) => matches(keys, wordSet(title)) > 0)
    .slice(0, MOST_OUTLINES)
    .flatMap(({ id }) => corpus.passagesOf(id));
}

/** False for signatures of functions and for what every document has. */
function isReadable(heading: string): boolean {
  const code = /[()[\]{}<>=`$]|\w\.\w|\p{Ll}\p{Lu}/u.test(heading);
  return !code && !ADMINISTRATIVE.test(heading) && heading.length <= 60 && keysOf(heading).length > 0;
}

const WORDS_BETWEEN = new Set(
  'and or und nor vs versus dan atau serta と や か および 及び または 和 与 與 及 以及 或 或者 跟'.split(
    ' ',
  ),
);
const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const MOST_SUBJECTS = 8;
const WHOLE = new RegExp(
  `[\\p{Script=Latin}\\p{N}]+(?:-[\\p{Script=Latin}\\p{N}]+)+|${TECHNICAL.source}`,
  'gu',
);

/** The subjects that a query names: runs of words that carry meaning, as written. */
export function subjectsOf(query: string): string[] {
  const runs: string[] = [];
  let run = '';
  const close = () => {
    const text = run.replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '');
    if (keysOf(text).length > 0) runs.push(text);
    run = '';
  };
  for (const { segment, isWordLike } of wordsOf(query.slice(0, 2_000))) {
    if (!isWordLike) {
      if (/^[\s'’]*$/u.test(segment)) run += segment;
      else close();
    } else if (WORDS_BETWEEN.has(segment.toLowerCase()) || keysOf(segment).length === 0) close();
    else run += segment;
  }
  close();
  const seen = new Set<string>();
  return runs
    .filter((text) => !seen.has(text.toLowerCase()) && seen.add(text.toLowerCase()))
    .slice(0, MOST_SUBJECTS);
}

/** Word segments, where a hyphenated word and a technical one are whole. */
function wordsOf(text: string): { segment: string; isWordLike: boolean }[] {
  const pieces: { segment: string; isWordLike: boolean }[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WHOLE)) {
    pieces.push(...segmentsOf(text.slice(end, index)), { segment: word, isWordLike: true });
    end = index + word.length;
  }
  return [...pieces, ...segmentsOf(text.slice(end))];
}

function segmentsOf(text: string): { segment: string; isWordLike: boolean }[] {
  return Array.from(words.segment(text), ({ segment, isWordLike = false }) => ({ segment, isWordLike }));
}

/** The text with a capital at its start, where its first word has no capitals of its own. */
export function capitalised(text: string): string {
  const [first = ''] = text.split(' ', 1);
  return /^\p{Ll}+$/u.test(first.replaceAll('-', '')) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
