import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${PROJECT}docs/reliability.md`, 'utf8');

/** A file of tests in backticks, with the beginnings of titles in asterisks behind it. */
const REFERENCE = /`([\w./-]+\.test\.ts)`(?:: (\*[^*]+\*(?:; \*[^*]+\*)*))?/g;

const references = [...page.matchAll(REFERENCE)].map(([, file = '', titles = '']) => ({
  file,
  titles: [...titles.matchAll(/\*([^*]+)\*/g)].map(([, title = '']) => title),
}));

test('every test that docs/reliability.md names exists, under the title that it gives', () => {
  const missing = references.flatMap(({ file, titles }) => {
    if (!existsSync(PROJECT + file)) return [file];
    const text = readFileSync(PROJECT + file, 'utf8');
    return titles.filter((title) => !text.includes(title)).map((title) => `${file}: ${title}`);
  });
  expect(references.length).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});

test('every known failure has a row whose test bears its id', () => {
  const rows = page.split('\n').filter((line) => /^\| [PH]\d/.test(line));
  const without = rows.filter((row) => {
    const [, ids = ''] = row.split('|');
    return ids.split(',').some((id) => !row.split('|').at(-2)?.includes(id.trim()));
  });
  expect(rows.length).toBeGreaterThan(60);
  expect(without).toEqual([]);
});
