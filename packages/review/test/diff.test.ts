import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffPlans } from '../src/index.ts';
import { sha256 } from '../src/use-cases/index.ts';

const plan = (version: number, text: string) =>
  ({
    version,
    text,
    sha256: sha256(text),
    author: 'assistant',
    created_at: '2026-01-15T10:30:00.000Z',
  }) as const;
const diff = (before: string, after: string) => diffPlans(plan(1, before), plan(3, after));
const side = (changes: ReturnType<typeof diff>['changes'], without: string) =>
  changes
    .filter(({ op }) => op !== without)
    .map(({ text }) => text)
    .join('');

describe('the diff of two plans (contract §2.2)', () => {
  it('goes by word', () => {
    expect(diff('Compare the prices.', 'Compare the licences.').changes).toEqual([
      { op: 'equal', text: 'Compare the ' },
      { op: 'delete', text: 'prices' },
      { op: 'insert', text: 'licences' },
      { op: 'equal', text: '.' },
    ]);
  });

  it('finds words where there are no spaces', () => {
    const { changes } = diff('市場価格の比較を行う', '市場規模の比較を行う');
    expect(changes).toContainEqual({ op: 'delete', text: '価格' });
    expect(changes).toContainEqual({ op: 'insert', text: '規模' });
  });

  it('both texts can be put together again from it, whatever they are', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { changes } = diff(before, after);
        expect([side(changes, 'insert'), side(changes, 'delete')]).toEqual([before, after]);
      }),
    );
  });

  it('names the versions and shows lines as a unified diff', () => {
    const { from, to, unified } = diff('a\nb\n', 'a\nc\n');
    expect([from, to]).toEqual([1, 3]);
    expect(unified).toContain('--- version 1\n+++ version 3\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n');
  });

  it('large texts without anything in common are replaced as a whole, not compared for ever', () => {
    const lines = (seed: number) =>
      Array.from({ length: 16_000 }, (_, n) => String.fromCharCode(97 + ((n * seed) % 25))).join('\n');
    const [before, after] = [lines(7), lines(11)];
    const { changes, unified } = diff(before, after);
    expect([side(changes, 'insert'), side(changes, 'delete')]).toEqual([before, after]);
    expect(unified).toMatch(/^(===|---)/);
  });
});
