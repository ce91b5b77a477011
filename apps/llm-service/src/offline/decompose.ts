import { cutToBytes, type Question } from '@plangate/contracts';
import { planToQuestions } from '@plangate/research';
import type { Corpus } from '@plangate/research/corpus';
import { fitting } from './covering.ts';
import { isDependent, isGeneric, keysOf, matches, searchTerms, wordSet } from './keys.ts';
import { documentsNamed } from './named.ts';
import { areaOf, labelled } from './phrases.ts';
import { focusIn, itemsOf, readPlan } from './plan-lines.ts';

const EVERY_AREA = 200;
const MOST_TERMS = 12;
const QUESTION_BYTES = 600;

/**
 * The areas of any plan as questions, in order: one each, or several together where there are more than `limit`,
 * so that no approved area is lost. The terms of a question hold its words, the names of the documents that the plan
 * wants for it, and what the plan puts into focus.
 */
export function questionsOf(plan: string, query: string, limit: number, corpus: Corpus): Question[] {
  const lines = plan.split('\n').filter((line) => !labelled(line));
  const areas = planToQuestions(lines.map((line) => areaOf(line).head).join('\n'), {
    maxQuestions: EVERY_AREA,
  });
  const texts = areas.length > 0 ? areas : [{ text: query, terms: [] as string[] }];
  const sources = sourcesIn(plan);
  const focus = focusIn(plan);
  const named = documentsNamed(corpus, focus);
  const extra = named.length > 0 ? [] : keysOf(focus).flat();
  return inGroups(texts, limit).map((group, index) => {
    const text = group.map((area) => area.text).join('; ');
    const terms = [
      ...group.flatMap((area) => searchTerms(keysOf(area.text))),
      ...group.flatMap((area) => (isDependent(keysOf(area.text)) ? keysOf(query).flat() : [])),
      ...group.flatMap((area) => sources.get(area.text) ?? []),
      ...group.flatMap((area) => namesFor(corpus, area.text, sources.get(area.text) ?? [])),
      ...group.flatMap((area) => area.terms.filter((term) => isTelling(term, area.text))),
    ];
    return {
      id: `q${index + 1}`,
      text: cutToBytes(text, QUESTION_BYTES),
      terms: [...new Set([...terms, ...extra])].slice(0, MOST_TERMS),
    };
  });
}

/** The documents that the plan names for its areas, by the area's name. */
function sourcesIn(plan: string): ReadonlyMap<string, string[]> {
  const areas = itemsOf(readPlan(plan)).map(({ text }) => areaOf(text));
  return new Map(areas.map(({ head, documents }) => [head, documents]));
}

function isTelling(term: string, text: string): boolean {
  return !isGeneric(term) && !partsOfCompounds(text).has(term);
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
function namesFor(corpus: Corpus, area: string, sources: readonly string[]): string[] {
  const subject = area.slice(0, QUESTION_BYTES);
  const keys = keysOf(subject);
  const documentIds = sources
    .flatMap((name) => documentsNamed(corpus, name))
    .flatMap(({ documents }) => documents.map(({ id }) => id));
  const counts = new Map<string, number>();
  for (const { text } of fitting(corpus, subject, documentIds.length > 0 ? { documentIds } : {})) {
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
