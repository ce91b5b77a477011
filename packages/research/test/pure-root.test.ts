import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const PURE = new Set(['@plangate/contracts', 'jsonrepair', 'zod']);
const IMPORT = /(?:from|import\()\s*'([^']+)'/g;

test('the root export reaches no Node built-in, no I/O package and no file of the corpus', () => {
  const outside = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
      if (name.startsWith('.')) visit(resolve(dirname(path), name));
      else outside.add(name);
    }
  };
  visit(join(import.meta.dirname, '../src/index.ts'));
  expect(seen.size).toBeGreaterThan(10);
  expect([...seen].filter((path) => path.includes('/corpus/'))).toEqual([]);
  expect([...outside].filter((name) => !PURE.has(name))).toEqual([]);
  expect([...outside].filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual(
    [],
  );
});
