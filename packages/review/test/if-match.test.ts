import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ifMatchAllows } from '../src/index.ts';

interface Case {
  header: string | null;
  match: boolean;
  current?: number;
}
const { cases } = JSON.parse(readFileSync(new URL('./fixtures/if-match.json', import.meta.url), 'utf8')) as {
  cases: Case[];
};

describe('If-Match (contract §2.2)', () => {
  it.each(cases)(
    'P07 header $header at version $current allows: $match',
    ({ header, match, current = 2 }) => {
      expect(ifMatchAllows(header, current)).toBe(match);
    },
  );

  it.each(['"x,*,y"', '"a, 2 ,b"', '"2', '"1,"2"', 'W/"2"', '2"', '2\u00a0'])(
    '%s is one tag or none: no match',
    (header) => {
      expect(ifMatchAllows(header, 2)).toBe(false);
    },
  );

  it('empty members of a list are nothing', () => {
    expect(ifMatchAllows(' , "2",', 2)).toBe(true);
  });

  it('a list with one member that is not a number still matches by another', () => {
    expect(ifMatchAllows('abc, "2"', 2)).toBe(true);
  });
});
