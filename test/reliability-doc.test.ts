import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import KNOWN_FAILURES from './fixtures/known-failures.json' with { type: 'json' };

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
    const code = withoutComments(readFileSync(PROJECT + file, 'utf8'));
    return titles.filter((title) => !code.includes(title)).map((title) => `${file}: ${title}`);
  });
  expect(references.length).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});

test('every known failure has one row, whose test bears its id', () => {
  const rows = page
    .split('\n')
    .filter((line) => /^\| [PH]\d/.test(line))
    .map((line) => {
      const [, ids = '', , tests = ''] = line.split('|');
      return { ids: ids.split(',').map((id) => id.trim()), tests };
    });
  const numbers = (id: string) => Number(id.slice(1)) + (id.startsWith('H') ? 1_000 : 0);
  const found = rows.flatMap(({ ids }) => ids).toSorted((a, b) => numbers(a) - numbers(b));
  expect(found).toEqual(KNOWN_FAILURES);
  const without = rows.flatMap(({ ids, tests }) => ids.filter((id) => !tests.includes(id)));
  expect(without).toEqual([]);
});

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
