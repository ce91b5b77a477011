import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Corpus,
  type CorpusEvent,
  MAX_FILE_BYTES,
  nameOf,
  namesOf,
  openCorpus,
} from '../src/corpus/index.ts';

let root = '';
let corpus: Corpus;
const files: Record<string, string | Uint8Array> = {
  'docs/guide.md':
    '# Guide\n\n[![badge](https://b/x.svg)](https://b)\n\n<!-- hidden words -->\n\n- [Contents](#contents)\n\n## Retries\n\nThe client retries with `exponentialBackoff` and a [limit](https://e).\n\n```ts\nconst a = "<b>";\n\nconst b = 2;\n```\n\n| key | meaning |\n|---|---|\n| ttl | lifetime |\n',
  'docs/plain.txt': 'Plain notes on gardening.\n\n# not a heading',
  'docs/page.html':
    '<html><head><title>Page</title><script>evilScript()</script></head><body><nav>menu</nav><h1>Cooking</h1><p>Boil the potatoes &amp; wait.</p></body></html>',
  'docs/paper.pdf': smallPdf('Turbines convert wind into electricity'),
  'docs/ja.md': '# 承認\n\n計画は人が承認するまで実行されません。期限は十五分です。',
  'docs/zh.md': '# 检索\n\n该框架支持全文检索和分词。',
  'docs/binary.txt': new Uint8Array([80, 0, 1, 2, 255]),
  'docs/broken.pdf': '%PDF-1.4 nothing behind it',
  'docs/huge.txt': new Uint8Array(MAX_FILE_BYTES + 1).fill(97),
  'docs/empty.md': '',
  'node_modules/p-limit/readme.md': '# p-limit\n\nRun functions with limited concurrency.',
  'node_modules/p-limit/docs/README.md': '# Inner\n\nunwantedInner',
  'node_modules/p-limit/node_modules/yocto/README.md': '# yocto\n\nA tiny queue.',
  'node_modules/@scope/kit/README.md': '# Features\n\nScoped toolkit.',
  'node_modules/@scope/kit/README.zh.md': '# Other\n\nlonger name',
  'node_modules/deep/node_modules/p-limit/README.md': '# p-limit\n\nan older copy',
  'node_modules/lockbox/README.md':
    '# Lockbox\n\nLockbox keeps a lock for its holder until the holder gives it back or is gone for a minute. Every lock is renewed by its holder, and a lock that nobody renews ends by itself.\n\n## lock(name, options) => Lock\n\n- `name` of the lock\n- `options` of the lock\n\n## Colours\n\nThe box is blue.',
  'node_modules/padlock-set/README.md': '# Padlock set\n\nA lock, a lock and a lock: each lock has a key.',
  'packages/own/README.md': '# own\n\nworkspaceOnly',
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'corpus-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  await symlink(join(root, 'packages/own'), join(root, 'node_modules/own'));
  corpus = await openCorpus({
    root,
    folders: [
      { path: 'docs', include: '**/*' },
      { path: 'node_modules', include: 'README*' },
      { path: 'missing', include: '*' },
    ],
  });
});
afterAll(() => rm(root, { recursive: true, force: true }));

const urls = (text: string) => corpus.search(text, { limit: 5 }).map(({ url }) => url);

test.each([
  ['Markdown', 'exponential backoff', 'docs/guide.md', 'Guide'],
  ['text', 'gardening', 'docs/plain.txt', 'plain.txt'],
  ['HTML', 'potatoes', 'docs/page.html', 'Cooking'],
  ['PDF', 'turbines', 'docs/paper.pdf', 'paper.pdf'],
  ['Japanese', '承認の期限', 'docs/ja.md', '承認'],
  ['Chinese', '全文检索', 'docs/zh.md', '检索'],
  ['an identifier by a part of it', 'backoff', 'docs/guide.md', 'Guide'],
  ['an identifier as it is written', 'exponentialBackoff', 'docs/guide.md', 'Guide'],
  ['a package by its name', 'p-limit', 'node_modules/p-limit/readme.md', 'p-limit'],
  [
    'a package whose first heading does not name it',
    'toolkit',
    'node_modules/@scope/kit/README.md',
    '@scope/kit: Features',
  ],
])('%s is found with its title', (_, text, url, title) => {
  expect(corpus.search(text, { limit: 5 })[0]).toMatchObject({ url, title, source: 'local' });
});

test('a PDF passage says its page', () => {
  expect(corpus.search('turbines', { limit: 1 })[0]?.heading).toBe('Page 1');
});

test.each(['xylophone quasar', 'the of and', '', '🎉', '量子力学'])(
  'a search with no word in common finds nothing: %j',
  (text) => {
    expect(urls(text)).toEqual([]);
  },
);

test.each(['evilScript', 'menu', 'hidden', 'unwantedInner', 'workspaceOnly', 'badge'])(
  'scripts, navigation, comments, badges, inner and linked READMEs are no part of it: %s',
  (text) => {
    expect(corpus.search(text, { limit: 5 }).filter((found) => found.text.includes(text))).toEqual([]);
  },
);

test('of each installed package one README is taken, nested packages included', () => {
  expect(corpus.documents.map(({ url }) => url).filter((url) => url.startsWith('node_modules'))).toEqual([
    'node_modules/@scope/kit/README.md',
    'node_modules/lockbox/README.md',
    'node_modules/p-limit/node_modules/yocto/README.md',
    'node_modules/p-limit/readme.md',
    'node_modules/padlock-set/README.md',
  ]);
});

test('what cannot be read is skipped with its reason', () => {
  const reasons = Object.fromEntries(corpus.skipped.map(({ url, reason }) => [url, reason]));
  expect(reasons).toMatchObject({
    'docs/binary.txt': 'it is not text',
    'docs/huge.txt': 'it is larger than 10 MB',
    'docs/empty.md': 'it is empty',
    missing: 'there is no such folder',
  });
  expect(reasons['docs/broken.pdf']).toMatch(/^it cannot be read/);
});

test('a folder that gives no document is told with its whole path and the reason', async () => {
  const told: CorpusEvent[] = [];
  const outside = join(tmpdir(), 'plangate-no-such-folder');
  await openCorpus({
    root,
    folders: [
      { path: 'docs', include: '*.md' },
      { path: 'docs/', include: 'empty.md' },
      { path: 'packages/own', include: '*.pdf' },
      { path: outside, include: '*' },
    ],
    log: (event) => told.push(event),
  });
  expect(told.filter(({ type }) => type === 'empty')).toEqual([
    {
      type: 'empty',
      folder: join(root, 'packages/own'),
      reason: "no file in it could be used (include: '*.pdf')",
    },
    { type: 'empty', folder: outside, reason: 'there is no such folder' },
  ]);
});

test('a code block and a table stand whole in one passage, and links leave their words', () => {
  const found = corpus.search('retries exponentialBackoff', { limit: 1 })[0];
  expect(found?.text).toContain('```ts\nconst a = "<b>";\n\nconst b = 2;\n```');
  expect(found?.text).toContain('| ttl | lifetime |');
  expect(found?.text).toContain('a limit.');
});

test('a passage is found by its id, and its id is the same when the corpus is opened again', async () => {
  const again = await openCorpus({ root, folders: [{ path: 'docs', include: '*.md' }] });
  const [found] = corpus.search('retries', { limit: 1 });
  expect(again.passage(found?.id ?? '')).toEqual(corpus.passage(found?.id ?? ''));
  expect(again.passage('unknown')).toBeUndefined();
});

test('a search can be kept to some documents', () => {
  const ja = corpus.documents.find(({ url }) => url === 'docs/ja.md');
  expect(
    corpus.search('承認 検索 retries', { limit: 9, documentIds: [ja?.id ?? ''] }).map(({ url }) => url),
  ).toEqual(['docs/ja.md']);
});

test('sentences come before the signature and the list of parameters with the same words', () => {
  const found = corpus.search('lock', { limit: 9, terms: ['lockbox'] });
  expect(found[0]?.text).toContain('Lockbox keeps a lock');
});

test('a document that a term names exactly comes first, by its passages on the question', () => {
  const best = (terms: string[]) => corpus.search('lock', { limit: 1, terms })[0];
  expect(best(['lock', 'padlock-set'])?.url).toBe('node_modules/padlock-set/README.md');
  const named = best(['lock', 'lockbox']);
  expect(named).toMatchObject({ url: 'node_modules/lockbox/README.md' });
  expect(named?.heading).not.toBe('Colours');
});

test.each([
  ['node_modules/@scope/kit/README.md', 'Features', '@scope/kit'],
  ['node_modules/a/node_modules/b/readme.md', 'B for you', 'b'],
  ['docs/guide.md', 'Guide', 'Guide'],
])('%s is called by its package, else by its title', (url, title, name) => {
  expect(nameOf({ url, title })).toBe(name);
  expect(namesOf({ url, title })).toContain(name.toLowerCase());
});

describe('the READMEs of the installed libraries', () => {
  test('are all cut into passages of bounded length that end between graphemes', async () => {
    const real = await openCorpus({
      root: join(import.meta.dirname, '../../..'),
      folders: [{ path: 'node_modules', include: 'README*' }],
    });
    expect(real.documents.length).toBeGreaterThan(150);
    const passages = real.documents.flatMap(({ id }) => real.passagesOf(id));
    expect(passages).toHaveLength(real.size);
    for (const { text } of passages) {
      expect(text.isWellFormed()).toBe(true);
      if (!/```|~~~|\|/.test(text)) expect(text.length).toBeLessThan(2 * 1200);
    }
    const perDocument = Map.groupBy(real.search('error handling options', { limit: 20 }), ({ url }) => url);
    expect(Math.max(...[...perDocument.values()].map((some) => some.length))).toBeLessThanOrEqual(3);
  });
});

function smallPdf(text: string): string {
  const content = `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = pdf.length;
  return `${pdf}xref\n0 6\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`;
}
