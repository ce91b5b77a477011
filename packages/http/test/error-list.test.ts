import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
/** `refuse(409, 'slug'` and `new HttpError(409, 'slug'`. */
const RAISED = /(?:refuse|HttpError)\(\s*(\d{3}),\s*'([a-z_]+)'/g;
const LISTED = /^\| `([a-z_]+)` \| (\d{3}) \|/gm;

test('every error code that the code raises stands in docs/errors.md with its status', () => {
  const files = globSync(['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: PROJECT });
  const raised = files.flatMap((file) =>
    [...readFileSync(`${PROJECT}${file}`, 'utf8').matchAll(RAISED)].map(
      ([, status, code]) => `${code} ${status}`,
    ),
  );
  const list = readFileSync(`${PROJECT}docs/errors.md`, 'utf8');
  const listed = new Set([...list.matchAll(LISTED)].map(([, code, status]) => `${code} ${status}`));
  expect(raised.length).toBeGreaterThan(30);
  expect([...new Set(raised)].filter((entry) => !listed.has(entry))).toEqual([]);
});
