import type { Passage } from '@plangate/contracts';
import MiniSearch from 'minisearch';
import type { ScoredPassage } from '../source.ts';
import { contentWords } from '../words.ts';
import { namesOf } from './names.ts';
import { proseWorth } from './prose.ts';

export type SearchOptions = {
  /** Most passages returned. */
  limit: number;
  /** Only these documents; the limit per document does not apply then. */
  documentIds?: readonly string[];
  /** Words that weigh double; one that is the exact name of a document prefers that document. */
  terms?: readonly string[];
  /** Most passages of one document that no term names, 3 where not given. */
  perDocument?: number;
};

type Entry = { id: number; documentId: string; passage: Passage; worth: number };
type Found = { entry: Entry; score: number };

const TERM_WEIGHT = 2;
const PER_DOCUMENT = 3;
const ADDED_AT_ONCE = 500;
const UNSPACED_START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** A document that a term names exactly is preferred; its name alone makes no passage fit. */
const NAMED_WEIGHT = 2;
const NAME_ONLY_WEIGHT = 0.25;
const NAME_TERM_WEIGHT = 0.3;
/** Where documents are named, each further passage of one counts less, so that all of them are heard. */
const FURTHER_WEIGHT = 0.75;

/**
 * A search over the passages: BM25, where words of title and heading weigh more than those of the text, sentences
 * more than signatures and lists, and documents that a term names exactly more than others.
 */
export async function buildSearch(
  byDocument: ReadonlyMap<string, readonly Passage[]>,
): Promise<(text: string, options: SearchOptions) => ScoredPassage[]> {
  const entries: Entry[] = [];
  const named = new Map<string, string[]>();
  for (const [documentId, passages] of byDocument) {
    for (const passage of passages)
      entries.push({ id: entries.length, documentId, passage, worth: proseWorth(passage) });
    for (const name of passages[0] ? namesOf(passages[0]) : [])
      named.set(name, [...(named.get(name) ?? []), documentId]);
  }
  const index = new MiniSearch<Entry>({
    fields: ['title', 'heading', 'text'],
    extractField: (entry, field) =>
      field === 'id' ? String(entry.id) : entry.passage[field as 'title' | 'heading' | 'text'],
    tokenize: contentWords,
    processTerm: (term) => term,
  });
  await index.addAllAsync(entries, { chunkSize: ADDED_AT_ONCE });
  return (text, options) => search(index, entries, readQuery(text, options.terms ?? [], named), options);
}

type Query = {
  words: string[];
  weighed: ReadonlySet<string>;
  /** Words that only name a document to look in. */
  names: ReadonlySet<string>;
  documents: ReadonlySet<string>;
};

function readQuery(
  text: string,
  terms: readonly string[],
  named: ReadonlyMap<string, readonly string[]>,
): Query {
  const own = contentWords(text);
  const naming = terms.filter((term) => named.has(term.toLowerCase()));
  const others = new Set(terms.filter((term) => !naming.includes(term)).flatMap(contentWords));
  const asked = own.filter(
    (word) => others.has(word) || !naming.some((name) => contentWords(name).includes(word)),
  );
  const topic = new Set([...others, ...asked]);
  const names = naming.flatMap(contentWords).filter((word) => !topic.has(word));
  return {
    words: [...new Set([...terms.flatMap(contentWords), ...own])],
    weighed: new Set(terms.flatMap(contentWords)),
    names: new Set(topic.size > 0 ? names : []),
    documents: new Set(naming.flatMap((name) => named.get(name.toLowerCase()) ?? [])),
  };
}

function search(
  index: MiniSearch<Entry>,
  entries: readonly Entry[],
  { words, weighed, names, documents }: Query,
  { limit, documentIds, perDocument: given }: SearchOptions,
): ScoredPassage[] {
  if (words.length === 0 || limit < 1) return [];
  const wanted = documentIds && new Set(documentIds);
  const results = index.search(words.join(' '), {
    tokenize: () => words,
    processTerm: (term) => term,
    boost: { title: 2, heading: 2.5 },
    boostTerm: (term) => (names.has(term) ? NAME_TERM_WEIGHT : weighed.has(term) ? TERM_WEIGHT : 1),
    prefix: (term) => term.length >= (UNSPACED_START.test(term) ? 2 : 4),
    fuzzy: (term) => (term.length >= 6 && !UNSPACED_START.test(term) ? 1 : false),
    weights: { prefix: 0.4, fuzzy: 0.15 },
    filter: (result) => !wanted || wanted.has(entries[result.id as number]?.documentId ?? ''),
  });
  const found = results.flatMap(({ id, score, queryTerms }): Found[] => {
    const entry = entries[Number(id)];
    if (!entry) return [];
    const nameOnly = queryTerms.every((term) => names.has(term));
    const preferred = documents.has(entry.documentId) ? NAMED_WEIGHT : 1;
    return [{ entry, score: score * entry.worth * (nameOnly ? NAME_ONLY_WEIGHT : preferred) }];
  });
  const perDocument = given ?? (wanted ? Number.POSITIVE_INFINITY : PER_DOCUMENT);
  const most = ({ documentId }: Entry) =>
    documents.has(documentId) ? Number.POSITIVE_INFINITY : perDocument;
  return limited(byScore(found), most, documents.size > 1 ? FURTHER_WEIGHT : 1)
    .slice(0, limit)
    .map(({ entry, score }) => ({ ...entry.passage, score }));
}

/** At most so many of a document, each further one weighing less, best first. */
function limited(found: readonly Found[], most: (entry: Entry) => number, furtherWeight: number): Found[] {
  const taken = new Map<string, number>();
  const kept = found.flatMap(({ entry, score }): Found[] => {
    const before = taken.get(entry.documentId) ?? 0;
    taken.set(entry.documentId, before + 1);
    return before < most(entry) ? [{ entry, score: score * furtherWeight ** before }] : [];
  });
  return furtherWeight === 1 ? kept : byScore(kept);
}

function byScore(found: readonly Found[]): Found[] {
  return found.toSorted((a, b) => b.score - a.score || a.entry.id - b.entry.id);
}
