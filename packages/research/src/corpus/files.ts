import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, extname, join, matchesGlob, relative, resolve, sep } from 'node:path';

/** Where documents lie. */
export type Folder = {
  /** Relative to the corpus' root, or absolute. */
  path: string;
  /** Glob on the path below the folder, or on the file name. */
  include: string;
};

export type DocumentFile = {
  id: string;
  path: string;
  url: string;
  /** Title where the document names none. */
  defaultTitle: string;
  /** The installed package whose top it lies in. */
  packageName?: string;
};

type Skip = (url: string, reason: string) => void;
type Walk = {
  root: string;
  base: string;
  include: string;
  skip: Skip;
  found: string[];
  packages: Set<string>;
};

const READABLE = new Set(['', '.md', '.markdown', '.txt', '.text', '.html', '.htm', '.pdf']);

/**
 * The files that the folders name, each once, ordered by url. Symbolic links and hidden folders are not
 * followed. Of an installed package a pattern without a slash takes one file, the shortest name that matches
 * at its top; a package that is installed several times counts once.
 */
export async function findFiles(
  root: string,
  folders: readonly Folder[],
  skip: Skip,
): Promise<DocumentFile[]> {
  const paths = new Set<string>();
  for (const folder of folders) {
    const base = resolve(root, folder.path);
    const walk: Walk = { root, base, include: folder.include, skip, found: [], packages: new Set() };
    if (basename(base) === 'node_modules') await walkPackages(base, walk);
    else await walkFolder(base, walk);
    for (const path of walk.found) paths.add(path);
  }
  return [...paths].map((path) => describe(root, path)).sort((a, b) => (a.url < b.url ? -1 : 1));
}

async function walkFolder(folder: string, walk: Walk): Promise<void> {
  for (const entry of await list(folder, walk)) {
    const path = join(folder, entry.name);
    if (entry.isFile() && matches(path, walk)) take(path, walk);
    else if (entry.isDirectory() && !entry.name.startsWith('.')) {
      await (entry.name === 'node_modules' ? walkPackages(path, walk) : walkFolder(path, walk));
    }
  }
}

async function walkPackages(nodeModules: string, walk: Walk): Promise<void> {
  const nested: string[] = [];
  for (const { name, path } of await packagesIn(nodeModules, walk)) {
    if (walk.packages.has(name)) continue;
    walk.packages.add(name);
    if (walk.include.includes('/')) {
      await walkFolder(path, walk);
      continue;
    }
    const entries = await list(path, walk);
    const fitting = entries
      .filter(
        (entry) =>
          entry.isFile() && READABLE.has(kindOf(entry.name)) && matches(join(path, entry.name), walk),
      )
      .map((entry) => entry.name)
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    if (fitting[0]) take(join(path, fitting[0]), walk);
    if (entries.some((entry) => entry.isDirectory() && entry.name === 'node_modules')) {
      nested.push(join(path, 'node_modules'));
    }
  }
  for (const folder of nested) await walkPackages(folder, walk);
}

async function packagesIn(nodeModules: string, walk: Walk): Promise<{ name: string; path: string }[]> {
  const packages: { name: string; path: string }[] = [];
  for (const entry of await list(nodeModules, walk)) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const path = join(nodeModules, entry.name);
    if (!entry.name.startsWith('@')) packages.push({ name: entry.name, path });
    else {
      for (const inner of await list(path, walk)) {
        if (inner.isDirectory())
          packages.push({ name: `${entry.name}/${inner.name}`, path: join(path, inner.name) });
      }
    }
  }
  return packages;
}

/** Letter case does not count: `README*` means `readme.md` too. */
function matches(path: string, walk: Walk): boolean {
  const include = walk.include.toLowerCase();
  const below = slashed(relative(walk.base, path)).toLowerCase();
  return matchesGlob(basename(below), include) || matchesGlob(below, include);
}

function take(path: string, walk: Walk): void {
  if (READABLE.has(kindOf(path))) walk.found.push(path);
  else walk.skip(slashed(relative(walk.root, path)), 'its kind is not read (md, txt, html and pdf are)');
}

async function list(folder: string, walk: Walk): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const reason = code === 'ENOENT' ? 'there is no such folder' : `the folder cannot be read (${code})`;
    walk.skip(slashed(relative(walk.root, folder)), reason);
    return [];
  }
}

function describe(root: string, path: string): DocumentFile {
  const url = slashed(relative(root, path));
  const owner = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/[^/]+$/.exec(url)?.[1];
  const id = createHash('sha256').update(url).digest('hex').slice(0, 16);
  if (!owner) return { id, path, url, defaultTitle: basename(path) };
  return { id, path, url, defaultTitle: `${owner} ${basename(path)}`, packageName: owner };
}

function kindOf(path: string): string {
  return extname(path).toLowerCase();
}

function slashed(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}
