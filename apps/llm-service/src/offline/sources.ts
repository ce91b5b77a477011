import { type Corpus, nameOf } from '@plangate/research/corpus';
import { type Area, areaFor } from './covering.ts';
import { areaText } from './first-plan.ts';
import type { Keys } from './keys.ts';
import { documentsNamed, type Named } from './named.ts';
import { areaOf, type Phrases } from './phrases.ts';
import { itemsOf, type PlanItem, type PlanLines, withText } from './plan-lines.ts';

/** The area by the documents that are wanted; by all where none of those covers it. */
export function areaIn(corpus: Corpus, subject: string, wanted: readonly Named[], context: Keys = []): Area {
  if (wanted.length === 0) return areaFor(corpus, subject, { context });
  const documentIds = wanted.flatMap(({ documents }) => documents.map(({ id }) => id));
  const area = areaFor(corpus, subject, { documentIds, context });
  const silent = wanted
    .filter(({ documents }) => !documents.some((document) => area.documents.includes(nameOf(document))))
    .map(({ name }) => name);
  return { ...(area.documents.length > 0 ? area : areaFor(corpus, subject, { context })), silent };
}

/**
 * Gives the areas in the plan's own words the documents that are wanted.
 * @returns all areas, those first that most of the wanted documents cover; and which of them any of those covers, or
 *   are a person's own lines
 */
export function lookIn(
  lines: PlanLines,
  wanted: readonly Named[],
  kind: 'focus' | 'only',
  corpus: Corpus,
  phrases: Phrases,
): { order: PlanItem[]; covered: PlanItem[] } {
  const all = itemsOf(lines);
  if (wanted.length === 0) return { order: all, covered: [] };
  const found = all.map((item) => {
    const { head, own } = areaOf(item.text);
    const area = areaIn(corpus, head, wanted);
    const covered = wanted.length - (area.silent?.length ?? 0);
    const documents = kind === 'only' && covered === 0 ? [] : area.documents;
    if (own) Object.assign(item, withText(item, areaText({ ...area, title: head, documents }, phrases)));
    return { item, own, covered };
  });
  return {
    order: found.toSorted((a, b) => b.covered - a.covered).map(({ item }) => item),
    covered: found.filter(({ own, covered }) => covered > 0 || !own).map(({ item }) => item),
  };
}

/**
 * Takes documents out of the sources of all areas; one that has no other left gets what else covers it.
 * @returns whether any of them was a source
 */
export function takeOut(
  lines: PlanLines,
  named: readonly Named[],
  corpus: Corpus,
  phrases: Phrases,
): boolean {
  const out = new Set(named.flatMap(({ documents }) => documents.map(nameOf)));
  const others = (names: readonly string[]) => names.filter((name) => !out.has(name));
  let isSource = false;
  for (const item of itemsOf(lines)) {
    const { head, documents, silent } = areaOf(item.text);
    const left = others(documents);
    const remarks = others(silent);
    if (left.length === documents.length && remarks.length === silent.length) continue;
    isSource ||= left.length < documents.length;
    const area = {
      title: head,
      documents: left.length > 0 ? left : others(areaFor(corpus, head).documents),
      silent: remarks,
    };
    Object.assign(item, withText(item, areaText(area, phrases)));
  }
  return isSource;
}

/** A list of what is in focus without the parts that name one of these documents, such as `ioredis` of `redlock and ioredis`. */
export function withoutNamed(list: string, what: string, corpus: Corpus): string {
  const out = new Set(documentsNamed(corpus, what).flatMap(({ documents }) => documents.map(({ id }) => id)));
  const named = documentsNamed(corpus, list);
  const left = named.filter(({ documents }) => documents.some(({ id }) => !out.has(id)));
  return left.length === named.length ? list : left.map(({ name }) => name).join(', ');
}
