import { join, resolve, sep } from 'node:path';
import type { Passage } from '@plangate/contracts';
import pLimit from 'p-limit';
import type { ScoredPassage, Source } from '../source.ts';
import { words } from '../words.ts';
import { type DocumentFile, type Folder, findFiles } from './files.ts';
import { splitPassages } from './passages.ts';
import { MAX_FILE_BYTES, readDocument } from './read.ts';
import { buildSearch, type SearchOptions } from './search.ts';

export type { Folder } from './files.ts';
export { nameOf, namesOf } from './names.ts';
export type { SearchOptions } from './search.ts';
export { MAX_FILE_BYTES };

/** A file or folder that is not part of the corpus, and why. */
export type Skipped = { url: string; reason: string };

export type CorpusEvent =
  | ({ type: 'skipped' } & Skipped)
  /** A folder of the settings, by its absolute path, that gave no document, and why. */
  | { type: 'empty'; folder: string; reason: string }
  | { type: 'progress'; read: number; files: number }
  | { type: 'loaded'; documents: number; passages: number; skipped: number; milliseconds: number };

export type CorpusDocument = {
  id: string;
  title: string;
  /** Path relative to the root, with forward slashes. */
  url: string;
};

export type CorpusOptions = {
  /** Absolute path that `folders` and the documents' urls are relative to. */
  root: string;
  folders: readonly Folder[];
  log?: (event: CorpusEvent) => void;
};

/** Local documents, cut into passages and indexed; it does not change after it was opened. */
export type Corpus = {
  readonly documents: readonly CorpusDocument[];
  readonly skipped: readonly Skipped[];
  /** Number of passages. */
  readonly size: number;
  passage(id: string): Passage | undefined;
  /** All passages of a document in reading order; `[]` for an unknown id. */
  passagesOf(documentId: string): readonly Passage[];
  /** Passages that share words with the text, best first; `[]` where no word is in common. */
  search(text: string, options: SearchOptions): ScoredPassage[];
};

const FILES_AT_ONCE = 16;
const PROGRESS_EVERY = 100;

/** Reads and indexes the documents. A file that cannot be read is skipped with its reason; it never rejects for one. */
export async function openCorpus({ root, folders, log = () => {} }: CorpusOptions): Promise<Corpus> {
  const started = performance.now();
  const skipped: Skipped[] = [];
  const skip = (url: string, reason: string) => {
    skipped.push({ url, reason });
    log({ type: 'skipped', url, reason });
  };
  const files = await findFiles(root, folders, skip);
  const limit = pLimit(FILES_AT_ONCE);
  let read = 0;
  const loaded = await Promise.all(
    files.map((file) =>
      limit(async () => {
        const document = await load(file, skip);
        read += 1;
        if (read % PROGRESS_EVERY === 0) log({ type: 'progress', read, files: files.length });
        return document;
      }),
    ),
  );
  const documents = loaded.filter((document) => document !== undefined);
  for (const empty of emptyFolders({ root, folders }, documents, skipped)) log({ type: 'empty', ...empty });
  const corpus = await assemble(documents, skipped);
  const milliseconds = Math.round(performance.now() - started);
  log({
    type: 'loaded',
    documents: documents.length,
    passages: corpus.size,
    skipped: skipped.length,
    milliseconds,
  });
  return corpus;
}

/** The corpus as a source of research. */
export function localSource(corpus: Corpus): Source {
  return {
    name: 'local',
    search: async ({ text, terms }, { limit }) => corpus.search(text, { limit, terms }),
  };
}

type Loaded = CorpusDocument & { passages: Passage[] };

async function load(
  file: DocumentFile,
  skip: (url: string, reason: string) => void,
): Promise<Loaded | undefined> {
  const document = await readDocument(file.path, file.defaultTitle);
  if (!document.ok) {
    skip(file.url, document.reason);
    return undefined;
  }
  const title = titleOf(document.title, file.packageName);
  const passages = splitPassages({ ...document, title }, file.url);
  if (passages.length === 0) {
    skip(file.url, 'it holds no text');
    return undefined;
  }
  return { id: file.id, title, url: file.url, passages };
}

function emptyFolders(
  { root, folders }: Pick<CorpusOptions, 'root' | 'folders'>,
  documents: readonly CorpusDocument[],
  skipped: readonly Skipped[],
): { folder: string; reason: string }[] {
  const paths = documents.map(({ url }) => resolve(root, url));
  return folders.flatMap(({ path, include }) => {
    const folder = resolve(root, path);
    if (paths.some((document) => document.startsWith(join(folder, sep)))) return [];
    const own = skipped.find(({ url }) => resolve(root, url) === folder);
    return [{ folder, reason: own?.reason ?? `no file in it could be used (include: '${include}')` }];
  });
}

/** A README may begin with a heading such as `Features`; then the package's name stands before it. */
function titleOf(title: string, packageName = ''): string {
  const named = new Set(words(title));
  return packageName === '' || words(packageName).some((word) => named.has(word))
    ? title
    : `${packageName}: ${title}`;
}

async function assemble(loaded: readonly Loaded[], skipped: readonly Skipped[]): Promise<Corpus> {
  const byId = new Map<string, Passage>();
  const byDocument = new Map<string, readonly Passage[]>();
  for (const { id, passages } of loaded) {
    byDocument.set(id, passages);
    for (const passage of passages) byId.set(passage.id, passage);
  }
  return {
    documents: loaded.map(({ id, title, url }) => ({ id, title, url })),
    skipped,
    size: byId.size,
    passage: (id) => byId.get(id),
    passagesOf: (documentId) => byDocument.get(documentId) ?? [],
    search: await buildSearch(byDocument),
  };
}
