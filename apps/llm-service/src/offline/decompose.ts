import { cutToBytes, type Question } from '@plangate/contracts';
import { planToQuestions } from '@plangate/research';
import type { Corpus } from '@plangate/research/corpus';
import { fitting } from './areas.ts';
import { keysOf, matches, wordSet } from './keys.ts';
import { areaOf, labelled } from './phrases.ts';

const EVERY_AREA = 200;
const MOST_TERMS = 12;
const QUESTION_BYTES = 600;

/**
 * The areas of any plan as questions, in order: one each, or several together where there are more than `limit`,
 * so that no approved area is lost. Words that the plan puts into focus weigh in every question.
 */
export function questionsOf(plan: string, query: string, limit: number, corpus: Corpus): Question[] {
  const lines = plan.split('\n');
  const own = lines.filter((line) => !labelled(line)).map((line) => areaOf(line).head);
  const focus = lines.flatMap((line) => {
    const found = labelled(line);
    return found?.label === 'focus' ? keysOf(found.content).flat() : [];
  });
  const areas = planToQuestions(own.join('\n'), { maxQuestions: EVERY_AREA });
  const texts = areas.length > 0 ? areas : [{ text: query, terms: [] as string[] }];
  return inGroups(texts, limit).map((group, index) => {
    const text = group.map((area) => area.text).join('; ');
    const terms = [
      ...group.flatMap((area) => keysOf(area.text).flat()),
      ...group.flatMap((area) => namesFor(corpus, area.text)),
      ...group.flatMap((area) => area.terms.filter((term) => !partsOfCompounds(area.text).has(term))),
    ];
    return {
      id: `q${index + 1}`,
      text: cutToBytes(text, QUESTION_BYTES),
      terms: [...new Set([...terms, ...focus])].slice(0, MOST_TERMS),
    };
  });
}

/** `time` of `time-outs` would find everything that has to do with time. */
function partsOfCompounds(text: string): ReadonlySet<string> {
  const compounds = text.match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)+/gu) ?? [];
  return wordSet(compounds.join(' ').replaceAll('-', ' '));
}

const IDENTIFIER = /\b[A-Za-z]*\p{Ll}\p{Lu}[A-Za-z]*\b/gu;
const MOST_NAMES = 3;

/**
 * What the documents call the subject in code, such as `retryStrategy`: the names that most passages use, in lower
 * case, so that a search takes them whole.
 */
function namesFor(corpus: Corpus, subject: string): string[] {
  const keys = keysOf(subject.slice(0, QUESTION_BYTES));
  const counts = new Map<string, number>();
  for (const { text } of fitting(corpus, subject.slice(0, QUESTION_BYTES))) {
    for (const name of new Set(text.match(IDENTIFIER))) {
      if (matches(keys, wordSet(name)) > 0) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const ranked = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return ranked.slice(0, MOST_NAMES).map(([name]) => name.toLowerCase());
}

/** At most `limit` groups of neighbours, the first areas alone as long as there is room. */
function inGroups<T>(list: readonly T[], limit: number): T[][] {
  const groups: T[][] = Array.from({ length: Math.min(limit, list.length) }, () => []);
  list.forEach((entry, index) => {
    groups[Math.floor((index * groups.length) / list.length)]?.push(entry);
  });
  return groups;
}
