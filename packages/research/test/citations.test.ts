import type { Passage } from '@plangate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CitationOptions,
  checkCitations,
  finishReport,
  MISSING_MARK,
  UNSUPPORTED_MARK,
} from '../src/index.ts';
import { mapText } from '../src/markdown.ts';

const passage = (id: string, text: string): Passage => ({
  id,
  title: `Title ${id}`,
  url: `docs/${id}.md`,
  source: 'local',
  heading: '',
  text,
});

const passages = new Map([
  [
    1,
    passage(
      'redis',
      'By default, the client will try to reconnect when the connection to Redis is lost. The retry delay grows\nup to 2 seconds. It does not support Windows XP. At most 1,000 commands wait in the queue.',
    ),
  ],
  [
    2,
    passage(
      'hono',
      'Hono is a small, fast web framework. It has no dependencies. Routing is faster than in Express.',
    ),
  ],
  [3, passage('ja', '承認されるまで計画は実行されません。期限は15分です。')],
  [4, passage('zh', '该框架支持中文检索。默认超时为三十秒。不支持图片搜索。')],
]);
const marking: CitationOptions = { verify: true, mark: 'mark' };
const holds = (claim: string) => checkCitations(claim, passages, marking).verification.supported === 1;

describe('a claim holds when the words of its passage carry it', () => {
  test.each([
    ['taken word by word', 'The retry delay grows up to 2 seconds [1].'],
    ['in another order', 'When the connection is lost, the client by default tries to reconnect [1].'],
    ['with other endings of the words', 'The client is reconnecting when connections to Redis are lost [1].'],
    ['with the reference behind the full stop', 'The retry delay grows up to 2 seconds. [1]'],
    ['with the number written out', 'The retry delay grows up to two seconds [1].'],
    ['with the number written without its comma', 'At most 1000 commands wait in the queue [1].'],
    ['over a line break of the passage', 'The retry delay grows up [1].'],
    ['with the same negation', 'Windows XP is not supported [1].'],
    ['as a list item', '- Hono has no dependencies [2]'],
    ['as a table row', '| Hono | a small, fast web framework [2] |'],
    ['in Japanese', '計画は承認されるまで実行されません[3]。'],
    ['in Chinese', '默认超时为30秒[4]。'],
    ['in Chinese with its negation', '该框架不支持图片搜索[4]。'],
    ['as a link on the number', 'Hono is a small web framework [2](https://example.org).'],
    ['as a corner bracket', 'Hono is a small web framework【2†source】.'],
  ])('%s', (_, claim) => {
    expect(holds(claim)).toBe(true);
  });
});

describe('a claim does not hold', () => {
  test.each([
    ['with other words', 'The moon is made of green cheese [1].'],
    ['with a number that the passage does not have', 'The retry delay grows up to 5 seconds [1].'],
    ['with the number in another unit', 'The retry delay grows up to 2 minutes [1].'],
    ['with a written number that the passage does not have', 'The retry delay grows up to six seconds [1].'],
    ['where the passage denies it', 'It supports Windows XP [1].'],
    ['where it denies the passage', 'Hono is not a small, fast web framework [2].'],
    ['without the negation of the passage', 'Hono has dependencies [2].'],
    ['with the opposite word', 'Routing is slower than in Express [2].'],
    ['in Japanese with another number', '期限は30分です[3]。'],
    ['in Japanese without the negation', '計画は承認されるまで実行されます[3]。'],
    ['in Chinese with another number', '默认超时为六十秒[4]。'],
    ['in Chinese without the negation', '该框架支持图片搜索[4]。'],
    ['when another passage carries it', 'Hono is a small, fast web framework [1].'],
    ['with no words at all', '[1]'],
  ])('%s', (_, claim) => {
    const { report, verification } = checkCitations(claim, passages, marking);
    expect(verification).toEqual({ claims: 1, supported: 0, unsupported: 1 });
    expect(report).toContain(`[1: ${UNSUPPORTED_MARK}]`);
  });
});

test('each clause of a sentence is checked against its own reference', () => {
  const { report } = checkCitations(
    'Hono is a small web framework [2], and the client tries to reconnect to Redis when the connection is lost [1].',
    passages,
    marking,
  );
  expect(report).toContain('framework [1], and');
  expect(report).toContain('lost [2].');
});

test('references are numbered in order of first use, and citations stand in the same order', () => {
  const { report, citations } = checkCitations(
    '期限は15分です[3]。\n\nHono has no dependencies [2]. Routing is faster than in Express [2].\n\n期限は15分です[3]。',
    passages,
    marking,
  );
  expect(report.match(/\[\d+\]/g)).toEqual(['[1]', '[2]', '[2]', '[1]']);
  expect(citations.map(({ n, passage_id, checked }) => [n, passage_id, checked])).toEqual([
    [1, 'ja', true],
    [2, 'hono', true],
  ]);
});

test.each([
  ['[2][1]', 2],
  ['[2, 1]', 2],
  ['[2; 1]', 2],
  ['[1–2]', 2],
  ['[1-4]', 4],
  ['[2] [2]', 1],
  ['[^2]', 1],
])('%s is read as %i references', (reference, count) => {
  const { verification } = checkCitations(`Hono is small ${reference}.`, passages, {
    verify: false,
    mark: 'mark',
  });
  expect(verification).toEqual({ claims: count, supported: 0, unsupported: 0 });
});

test('a reference to a passage that does not exist is taken out, counted and, when claims are checked, shown', () => {
  const text = 'Hono has no dependencies [9].';
  const checked = checkCitations(text, passages, marking);
  expect(checked).toEqual({
    report: `Hono has no dependencies ${MISSING_MARK}.`,
    citations: [],
    verification: { claims: 1, supported: 0, unsupported: 1 },
  });
  expect(checkCitations(text, passages, { verify: false, mark: 'mark' })).toMatchObject({
    report: 'Hono has no dependencies.',
    verification: { claims: 1, supported: 0, unsupported: 1 },
  });
});

test('a sentence is dropped with its claim, and the list item that it leaves empty goes too', () => {
  const { report, citations } = checkCitations(
    '- Hono costs 5 dollars [2].\n- Hono has no dependencies [2]. It was made on the moon [7].\n- End',
    passages,
    { verify: true, mark: 'drop' },
  );
  expect(report).toBe('- Hono has no dependencies [1]. \n- End');
  expect(citations).toHaveLength(1);
});

test('a clause without support stays marked where another one of its dropped sentence would hold', () => {
  const { report } = checkCitations(
    'Hono has no dependencies [2] and flies to the green moon [1].',
    passages,
    {
      verify: true,
      mark: 'drop',
    },
  );
  expect(report).toBe(`Hono has no dependencies [1] and flies to the green moon [2: ${UNSUPPORTED_MARK}].`);
});

test('code holds no references, in a fence and in a line', () => {
  const text = 'Read `list[1]` first.\n\n```js\nlist[2] = [1]\n```\n\n~~~\n[9]';
  expect(checkCitations(text, passages, marking)).toEqual({
    report: text,
    citations: [],
    verification: { claims: 0, supported: 0, unsupported: 0 },
  });
});

test('without verification the quote is the best sentence, and nothing is called checked', () => {
  const { citations } = checkCitations('It has no dependencies [2].', passages, {
    verify: false,
    mark: 'mark',
  });
  expect(citations).toEqual([
    {
      n: 1,
      title: 'Title hono',
      url: 'docs/hono.md',
      source: 'local',
      passage_id: 'hono',
      quote: 'It has no dependencies.',
      checked: false,
    },
  ]);
});

const word = fc.constantFrom(
  ...'redis hono 承認 計画 small 2 15 not [1] [2] [9] [0] [1,3] [2–4] [[3]] [ ] `x[1]` ` `` ``` | > - # . 。 \n \n\n 【3】 ( ) <b> ![ ]( http://a \\ ~~~ [1]:'.split(
    ' ',
  ),
);
const reportText = fc.array(word, { maxLength: 60 }).map((parts) => parts.join(' '));
const anyPassages = fc
  .array(fc.array(word, { minLength: 1, maxLength: 40 }), { maxLength: 4 })
  .map(
    (texts) =>
      new Map(texts.map((parts, index) => [index + 1, passage(`p${index}`, parts.join(' '))] as const)),
  );

test('every [n] of a finished report is a citation whose quote stands in its passage letter by letter', () => {
  fc.assert(
    fc.property(
      reportText,
      anyPassages,
      fc.boolean(),
      fc.constantFrom('mark', 'drop'),
      (body, byN, verify, mark) => {
        const { report, citations, verification } = finishReport({
          title: body,
          body,
          passages: byN,
          verify,
          mark: mark as 'mark' | 'drop',
          enableCitations: true,
        });
        const byId = new Map([...byN.values()].map((one) => [one.id, one]));
        expect(citations.map(({ n }) => n)).toEqual(citations.map((_, index) => index + 1));
        for (const { passage_id, quote } of citations) {
          expect(quote).not.toBe('');
          expect(byId.get(passage_id)?.text).toContain(quote);
        }
        const pieces: string[] = [];
        mapText(report, (piece) => {
          pieces.push(piece);
          return piece;
        });
        const text = pieces.join('\n');
        for (const [, n] of text.matchAll(/\[(\d+)\]/g)) expect(citations[Number(n) - 1]?.n).toBe(Number(n));
        if (verify) expect(verification.supported + verification.unsupported).toBe(verification.claims);
        if (!verify) expect(citations.every(({ checked }) => !checked)).toBe(true);
      },
    ),
    { numRuns: 1500 },
  );
});

test.each([
  ['sentences with references', 'Hono has no dependencies [2] and 承認されるまで [3]. '],
  ['references in one sentence', 'word [1] other [2] '],
  ['adjacent references', '[1][2]'],
  ['open brackets', '[['],
  ['closed brackets with colons', ']:'],
  ['backticks of many lengths', '` `` ``` [1] '],
  ['half links', '[a](x ![a](() '],
  ['white space', '                    '],
  ['list items', '- Hono has no dependencies [2]\n'],
])('the time for a report grows with its length and not faster: %s', (_, piece) => {
  const milliseconds = (bytes: number) => {
    const body = piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes);
    const started = performance.now();
    finishReport({ title: 't', body, passages, verify: true, enableCitations: true });
    return performance.now() - started;
  };
  milliseconds(64 * 1024);
  const eighth = milliseconds(64 * 1024);
  const whole = milliseconds(512 * 1024);
  expect(whole).toBeLessThan(8 * 4 * Math.max(eighth, 25));
});
