import type { Citation } from '@plangate/contracts';
import type { Corpus } from '@plangate/research/corpus';
import { keysOf, matches, wordSet } from './keys.ts';
import type { Phrases } from './phrases.ts';
import { bestSentences, fittingSentences } from './sentences.ts';
import { cite } from './write.ts';

const PASSAGES = 16;
const SENTENCES = 4;
/** A sentence this much weaker than the best one is not said. */
const WEAKEST = 0.6;

/** An answer quoted from the local documents with its sources, or that they say nothing. */
export function extractAnswer(
  corpus: Corpus,
  query: string,
  phrases: Phrases,
): { answer: string; citations: Citation[] } {
  const keys = keysOf(query);
  const passages = corpus
    .search(query.slice(0, 2_000), { limit: PASSAGES, terms: keys.flat() })
    .filter(
      (passage) =>
        matches(keys, wordSet(`${passage.title} ${passage.heading} ${passage.text}`)) * 2 >= keys.length,
    );
  const fitting = fittingSentences(passages, keys, []);
  const least = WEAKEST * Math.max(...fitting.map(({ score }) => score));
  const best = bestSentences(
    fitting.filter(({ score }) => score >= least),
    SENTENCES,
    2,
  );
  if (best.length === 0) return { answer: phrases.answerNothing(corpus.documents.length), citations: [] };

  const order = [...new Set(best.map(({ passage }) => passage.id))];
  const numbered = best.map((sentence) => ({
    ...sentence,
    passage: { ...sentence.passage, n: order.indexOf(sentence.passage.id) + 1 },
  }));
  const citations = order.flatMap((id, index): Citation[] => {
    const first = best.find(({ passage }) => passage.id === id);
    if (!first) return [];
    const { title, url, source } = first.passage;
    return [{ n: index + 1, title, url, source, passage_id: id, quote: first.text, checked: true }];
  });
  const lines = numbered.map((sentence) => `- ${cite(sentence)}`);
  const sources = citations.map(({ n, title, url }) => `[${n}] ${title} — ${url}`);
  return { answer: [phrases.answerIntro, lines.join('\n'), sources.join('\n')].join('\n\n'), citations };
}
