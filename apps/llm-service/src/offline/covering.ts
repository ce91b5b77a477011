import type { Passage } from '@plangate/contracts';
import type { ScoredPassage } from '@plangate/research';
import { type Corpus, nameOf, namesOf } from '@plangate/research/corpus';
import { type Keys, keysOf, matches, searchTerms, wordSet } from './keys.ts';
import { isAboutHeading, sentencesOf, withoutCode } from './sentences.ts';
import { capitalised } from './subjects.ts';

/** A subject and the documents that cover it, best first. */
export interface Area {
  title: string;
  documents: string[];
  /** Names of documents that a person wanted for it and that hold nothing on it. */
  silent?: string[];
  /** True where a document mentions it in passing and none covers it. */
  mentioned?: boolean;
}

/** Where to look for a subject. */
export interface Scope {
  /** Ids of the only documents to take; there a single sentence is enough to name one. */
  documentIds?: readonly string[];
  /** What it is about in the wider sense: sentences without any of it count little. */
  context?: Keys;
}

const MOST_DOCUMENTS = 4;
/** A document this much less fitting than the best one is not named. */
const WEAKEST = 0.3;
/** A mention in passing does not cover a subject: two sentences do, or one under a heading about it. */
const COVERED = 2;
const MENTIONED = 1;
const MOST_COUNTED = 6;
const BY_HEADING = 1.5;
const BY_NAME = 2;
const OUT_OF_CONTEXT = 0.3;

/** A subject with the documents that cover it; `documents` is empty where none does. */
export function areaFor(corpus: Corpus, subject: string, scope: Scope = {}): Area {
  const keys = keysOf(subject);
  const found = new Map<string, number>();
  for (const [name, passages] of Map.groupBy(fitting(corpus, subject, scope), nameOf))
    found.set(name, strengthOf(passages, keys, scope.context ?? []));
  const ranked = [...found].sort(([, a], [, b]) => b - a);
  const best = ranked[0]?.[1] ?? 0;
  const least = scope.documentIds ? MENTIONED : Math.max(COVERED, best * WEAKEST);
  const covering = ranked.filter(([, strength]) => strength >= least);
  const mentioning = ranked.slice(0, 1).filter(([, strength]) => strength >= MENTIONED);
  const documents = (covering.length > 0 ? covering : mentioning).map(([name]) => name);
  const mentioned = covering.length === 0 && mentioning.length > 0;
  const title = titleOf(corpus, subject);
  return { title, documents: documents.slice(0, MOST_DOCUMENTS), mentioned };
}

/** A name such as `ioredis` keeps its small letter. */
function titleOf(corpus: Corpus, subject: string): string {
  const [first = ''] = subject.split(' ', 1);
  return corpus.documents.some((document) => namesOf(document).includes(first))
    ? subject
    : capitalised(subject);
}

/** Passages whose prose covers the subject, best first. */
export function fitting(corpus: Corpus, subject: string, { documentIds }: Scope = {}): ScoredPassage[] {
  const keys = keysOf(subject);
  if (keys.length === 0) return [];
  return corpus
    .search(subject, {
      limit: 80,
      terms: searchTerms(keys),
      perDocument: documentIds ? 20 : 6,
      ...(documentIds && { documentIds }),
    })
    .filter(({ title, heading, text }) => covers(keys, `${title}\n${heading}\n${withoutCode(text)}`));
}

/** How many sentences of a document's passages say something about the subject; its headings and name add to them. */
export function strengthOf(passages: readonly Passage[], keys: Keys, context: Keys): number {
  let sentences = 0;
  let heading = 0;
  let named = 0;
  for (const passage of passages) {
    const names = exactNames(keys, passage);
    for (const { text, heading: under } of sentencesOf(passage)) {
      const about = isAboutHeading(keys, under);
      if (!about && (matches(keys, wordSet(text)) === 0 || !covers(keys, `${names} ${under} ${text}`)))
        continue;
      sentences += weightIn(context, `${under} ${text}`);
      if (covers(keys, under)) heading = Math.max(heading, about ? BY_HEADING : BY_HEADING / 3);
      if (covers(keys, `${nameOf(passage)} ${passage.title}`)) named = BY_NAME;
    }
  }
  return Math.min(sentences, MOST_COUNTED) + heading + named;
}

/** The keys that are a document's name: `ioredis`, but not `client` of `prom-client`. */
function exactNames(keys: Keys, passage: Passage): string {
  const names = namesOf(passage);
  return keys
    .flat()
    .filter((key) => names.includes(key))
    .join(' ');
}

function weightIn(context: Keys, text: string): number {
  return context.length === 0 || matches(context, wordSet(text)) > 0 ? 1 : OUT_OF_CONTEXT;
}

/** True where the text has most of the words that name the subject. */
export function covers(keys: Keys, text: string): boolean {
  return matches(keys, wordSet(text)) >= Math.floor(keys.length / 2) + 1;
}
