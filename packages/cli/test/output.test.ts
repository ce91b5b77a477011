import { expect, test } from 'vitest';
import { firstLine, plain } from '../src/output.ts';

test.each([
  ['an override of the direction', 'Delete \u202eelif\u202c', 'Delete \\u{202e}elif\\u{202c}'],
  ['an isolate', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  ['a space of no width', 'rm\u200b -rf', 'rm\\u{200b} -rf'],
  ['words in tags', 'Plan\u{e0041}\u{e0042}', 'Plan\\u{e0041}\\u{e0042}'],
])('%s is shown, as what is approved is what is seen', (_name, text, shown) => {
  expect(plain(text)).toBe(shown);
  expect(firstLine(text)).toBe(shown);
});

test.each(['👨‍👩‍👧 família', 'क्‍ष', 'می‌خواهم', 'שלום עולם', '計画\n\t- 潮汐'])(
  '%s is left as it is',
  (text) => {
    expect(plain(text)).toBe(text);
  },
);

test('what a terminal would obey is left out', () => {
  expect(plain('\u001b[2Jgone\u0007\r\n')).toBe('[2Jgone\n');
});
