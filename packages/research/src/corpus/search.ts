import type { Passage } from '@plangate/contracts';
import MiniSearch from 'minisearch';
import type { ScoredPassage } from '../source.ts';
import { contentWords } from '../words.ts';

export type SearchOptions = {
  /** Most passages returned. */
  limit: number;
  /** Only these documents; the limit per document does not apply then. */
  documentIds?: readonly string[];
  /** Words that weigh double. */
  terms?: readonly string[];
  /** Most passages of one document, 3 where not given. */
  perDocument?: number;
};

type Entry = { id: number; documentId: string; passage: Passage };

const TERM_WEIGHT = 2;
const PER_DOCUMENT = 3;
const ADDED_AT_ONCE = 500;
const UNSPACED_START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A search over the passages: BM25, where words of title and heading weigh more than those of the text. */
export async function buildSearch(
  byDocument: ReadonlyMap<string, readonly Passage[]>,
): Promise<(text: string, options: SearchOptions) => ScoredPassage[]> {
  const entries: Entry[] = [];
  for (const [documentId, passages] of byDocument) {
    for (const passage of passages) entries.push({ id: entries.length, documentId, passage });
  }
  const index = new MiniSearch<Entry>({
    fields: ['title', 'heading', 'text'],
    extractField: (entry, field) =>
      field === 'id' ? String(entry.id) : entry.passage[field as 'title' | 'heading' | 'text'],
    tokenize: contentWords,
    processTerm: (term) => term,
  });
  await index.addAllAsync(entries, { chunkSize: ADDED_AT_ONCE });
  return (text, options) => search(index, entries, text, options);
}

function search(
  index: MiniSearch<Entry>,
  entries: readonly Entry[],
  text: string,
  options: SearchOptions,
): ScoredPassage[] {
  const weighed = new Set(options.terms?.flatMap(contentWords));
  const all = [...new Set([...weighed, ...contentWords(text)])];
  if (all.length === 0 || options.limit < 1) return [];
  const wanted = options.documentIds && new Set(options.documentIds);
  const perDocument = options.perDocument ?? (wanted ? Number.POSITIVE_INFINITY : PER_DOCUMENT);
  const results = index.search(all.join(' '), {
    tokenize: () => all,
    processTerm: (term) => term,
    boost: { title: 2, heading: 2.5 },
    boostTerm: (term) => (weighed.has(term) ? TERM_WEIGHT : 1),
    prefix: (term) => term.length >= (UNSPACED_START.test(term) ? 2 : 4),
    fuzzy: (term) => (term.length >= 6 && !UNSPACED_START.test(term) ? 1 : false),
    weights: { prefix: 0.4, fuzzy: 0.15 },
    filter: (result) => !wanted || wanted.has(entries[result.id as number]?.documentId ?? ''),
  });
  const taken = new Map<string, number>();
  const found: ScoredPassage[] = [];
  for (const { id, score } of results) {
    const entry = entries[Number(id)];
    if (!entry) continue;
    const count = taken.get(entry.documentId) ?? 0;
    if (count >= perDocument) continue;
    taken.set(entry.documentId, count + 1);
    found.push({ ...entry.passage, score });
    if (found.length >= options.limit) break;
  }
  return found;
}
