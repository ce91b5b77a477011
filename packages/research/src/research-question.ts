import type { Passage, Question, Strategy } from '@plangate/contracts';
import type { ScoredPassage, SearchQuestion, Source } from './source.ts';
import { contentWords, root } from './words.ts';

export type Finding = {
  question: Question;
  /** Best first; `[]` where the source holds nothing that fits. */
  passages: Passage[];
  /** Searches made. */
  searches: number;
};

/** A passage that scores less than this share of the search's best one is noise. */
const LEAST_SHARE_OF_BEST = 0.2;
/** Searched for more than wanted, because some of what is found is known already or does not fit. */
const SPARE = 2;
const LATIN = /\p{Script=Latin}/u;

/**
 * Looks a question up: first by its terms, then by its text, then by single terms, until enough passages are found
 * or `max_iterations` searches are made.
 */
export async function researchQuestion(
  question: Question,
  source: Source,
  strategy: Pick<Strategy, 'max_iterations' | 'passages_per_question'>,
  options: { signal?: AbortSignal } = {},
): Promise<Finding> {
  const wanted = strategy.passages_per_question;
  const found = new Map<string, Passage>();
  const asked = rootsOf(`${question.text} ${question.terms.join(' ')}`);
  let searches = 0;
  for (const search of widening(question).slice(0, strategy.max_iterations)) {
    options.signal?.throwIfAborted();
    searches += 1;
    const results = await source.search(search, { limit: wanted * SPARE + found.size, ...options });
    const least = (results[0]?.score ?? 0) * LEAST_SHARE_OF_BEST;
    for (const passage of results) {
      if (found.size >= wanted) break;
      if (passage.score >= least && fits(passage, asked)) found.set(passage.id, withoutScore(passage));
    }
    if (found.size >= wanted) break;
  }
  return { question, passages: [...found.values()], searches };
}

/** The searches of a question, narrow to wide, none twice. */
function widening({ text, terms }: Question): SearchQuestion[] {
  const single = (terms.length > 0 ? terms : contentWords(text)).toSorted((a, b) => b.length - a.length);
  const searches = [
    ...(terms.length > 0 ? [{ text: terms.join(' '), terms }] : []),
    { text, terms },
    ...single.map((term) => ({ text: term, terms: [term] })),
  ];
  const byWords = new Map(searches.map((search) => [contentWords(search.text).join(' '), search]));
  return [...byWords.values()];
}

/**
 * One word in common is chance, unless the question has no other or the document is named by it; a named document
 * fits only where the passage has something else of the question, as far as both are in one script.
 */
function fits(passage: Passage, asked: ReadonlySet<string>): boolean {
  if (asked.size <= 1) return true;
  const title = rootsOf(passage.title);
  const text = rootsOf(`${passage.heading} ${passage.text}`);
  const shared = Array.from(asked).filter((word) => text.has(word)).length;
  if (shared >= 2) return true;
  const others = Array.from(asked).filter((word) => !title.has(word));
  if (others.length === asked.size) return false;
  return others.filter((word) => LATIN.test(word)).length < 2 || others.some((word) => text.has(word));
}

function withoutScore({ score: _, ...passage }: ScoredPassage): Passage {
  return passage;
}

function rootsOf(text: string): ReadonlySet<string> {
  return new Set(contentWords(text).map(root));
}
