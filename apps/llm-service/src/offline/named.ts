import type { Corpus, CorpusDocument } from '@plangate/research/corpus';
import { nameOf, namesOf } from '@plangate/research/corpus';

/** What a person named, and the documents that are meant by it. */
export interface Named {
  name: string;
  documents: CorpusDocument[];
}

const SEPARATOR =
  /\s*(?:[,、，;；/&]|\b(?:and|dan|or|atau|as well as|serta)\b|和|与|與|及び|及|以及|や|と)\s*/iu;
const AROUND =
  /^(?:the|only|package|library|pustaka|库)\s+|\s+(?:package|packages|library|libraries|docs?|documents?|documentation|SDK)$/giu;
const SHORTEST = 3;
const PROPER = /^\p{Lu}/u;

/**
 * The documents that a list such as `ioredis, Temporal and redlock` names, part by part: by package or title, else
 * by the maker (`Temporal` is `@temporalio/…`) or a whole word of the name where it is written as a proper one. `[]` where it names none.
 */
export function documentsNamed(corpus: Corpus, list: string): Named[] {
  const parts = list.split(SEPARATOR).map((part) => part.replace(AROUND, '').trim());
  return [...new Set(parts)].flatMap((name) => {
    const documents = meantBy(corpus, name);
    return documents.length > 0 ? [{ name, documents }] : [];
  });
}

function meantBy(corpus: Corpus, name: string): CorpusDocument[] {
  const wanted = name.toLowerCase();
  if (wanted.length < SHORTEST) return [];
  const exact = corpus.documents.filter((document) => namesOf(document).includes(wanted));
  if (exact.length > 0) return exact;
  const made = corpus.documents.filter((document) => isMaker(nameOf(document), wanted));
  if (made.length > 0 || !PROPER.test(name)) return made;
  return corpus.documents.filter((document) => isPartOf(document, wanted));
}

/** `Temporal` makes `@temporalio/worker`: the scope is the name, alone or with a usual ending. */
function isMaker(name: string, wanted: string): boolean {
  const scope = /^@([^/]+)\//.exec(name)?.[1]?.toLowerCase();
  return (
    scope !== undefined &&
    scope !== 'types' &&
    ['', 'io', 'js', 'js.io', 'hq', 'labs', 'org'].some((end) => scope === wanted + end)
  );
}

/** A whole word of the name: `Nexus` is `nexus-rpc`. */
function isPartOf(document: CorpusDocument, wanted: string): boolean {
  return namesOf(document).some((name) => new Set(name.split(/[^\p{L}\p{N}]+/u)).has(wanted));
}
