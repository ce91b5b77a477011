import { TECHNICAL } from './glossary.ts';
import { keysOf, matches } from './keys.ts';

const WORDS_BETWEEN = new Set(
  'and or und nor vs versus dan atau serta と や か および 及び または 和 与 與 及 以及 或 或者 跟'.split(
    ' ',
  ),
);
const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const MOST_SUBJECTS = 8;
/** Words that go on with a subject: `validation of input`, テストの並列実行. */
const JOINING = new Set(['of', 'の', '的', '実行', '执行']);
const WHOLE = new RegExp(
  `[\\p{Script=Latin}\\p{N}]+(?:-[\\p{Script=Latin}\\p{N}]+)+|${TECHNICAL.source}`,
  'gu',
);

/**
 * The subjects that a query names: runs of words that carry meaning, as written, where `of` joins two. One that says
 * less than another of them is not named.
 */
export function subjectsOf(query: string): string[] {
  const runs: string[] = [];
  let run = '';
  const close = () => {
    const text = run.replace(/^(?:[\s\p{P}]|of\b)+|(?:[\s\p{P}]|\bof|[の的])+$/giu, '').replace(/\s+/g, ' ');
    if (keysOf(text).length > 0) runs.push(text);
    run = '';
  };
  for (const { segment, isWordLike } of wordsOf(query.slice(0, 2_000))) {
    const lower = segment.toLowerCase();
    if (!isWordLike) {
      if (/^[\s'’]*$/u.test(segment)) run += segment;
      else close();
    } else if (JOINING.has(lower) && keysOf(run).length > 0) run += segment;
    else if (WORDS_BETWEEN.has(lower) || keysOf(segment).length === 0) close();
    else run += segment;
  }
  close();
  const distinct = [...new Map(runs.map((text) => [text.toLowerCase(), text])).values()];
  return sharingAcronym(distinct)
    .filter((text) => !distinct.some((other) => other !== text && saysAll(other, text)))
    .slice(0, MOST_SUBJECTS);
}

/** What a subject is a case of: `validation` of `validation of input`, `servers` of `HTTP servers`, 日志 of 日志级别. */
export function broaderThan(subject: string): string[] {
  const [head = '', ...rest] = subject.split(/\s+of\s+/i);
  const parts = rest.length > 0 ? [head] : subject.split(/(?<=.{2})[の的](?=.{2})/u);
  const last = subject.split(' ').at(-1) ?? '';
  const [first = ''] = subject.match(TECHNICAL) ?? [];
  const acronym = /^\p{Lu}{2,} \p{Ll}+$/u.test(subject) ? [last] : [];
  return [...new Set([...parts, ...acronym, first])].filter(
    (part) => part !== subject && keysOf(part).length > 0,
  );
}

function saysAll(longer: string, shorter: string): boolean {
  const keys = keysOf(shorter);
  const others = keysOf(longer);
  return others.length > keys.length && matches(keys, new Set(others.flat())) === keys.length;
}

/** `HTTP clients and servers` are HTTP clients and HTTP servers. */
function sharingAcronym(subjects: readonly string[]): string[] {
  return subjects.map((subject, index) => {
    const [acronym = '', ...rest] = (subjects[index - 1] ?? '').split(' ');
    const shares = index > 0 && rest.length > 0 && /^\p{Lu}{2,}$/u.test(acronym);
    return shares && /^\p{Ll}+$/u.test(subject) ? `${acronym} ${subject}` : subject;
  });
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
