import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, codePoints, cutToBytes, isBlank, utf8Bytes } from '../src/index.ts';

const FAMILY = '👨‍👩‍👧‍👦';

describe('untrusted text', () => {
  it('control characters go, tab and LF stay, CRLF and CR become LF', () => {
    expect(cleanText('a\u0000b\u0007\tc\r\nd\re\u0085f\u007f')).toBe('ab\tc\nd\nef');
  });

  it('lone surrogates become U+FFFD', () => {
    expect(cleanText('a\ud800b')).toBe('a\ufffdb');
  });

  it('bidi marks and joiners are text and stay', () => {
    expect(cleanText(`\u202eabc\u202c ${FAMILY}`)).toBe(`\u202eabc\u202c ${FAMILY}`);
  });

  it('cleaning twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
    );
  });

  it.each(['', ' ', '\n\t', '　　', '\u200b', '\u200d\ufeff', '\u3164', '\u00ad'])('%j is blank', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each(['a', ' a ', '0', '👍🏽', '\u0301'])('%j is not blank', (text) => {
    expect(isBlank(text)).toBe(false);
  });

  it('bytes are UTF-8, characters are code points', () => {
    expect([utf8Bytes('研😀'), codePoints('研😀')]).toEqual([7, 2]);
  });

  it('a cut never goes through a grapheme, at every length', () => {
    const text = `a${FAMILY}b`;
    for (let bytes = 0; bytes <= utf8Bytes(text); bytes += 1) {
      expect(['', 'a', `a${FAMILY}`, text]).toContain(cutToBytes(text, bytes));
    }
  });

  it('a cut is the longest prefix that fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(200), (text, limit) => {
        const cut = cutToBytes(text, limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(utf8Bytes(cut)).toBeLessThanOrEqual(limit);
        if (utf8Bytes(text) <= limit) expect(cut).toBe(text);
      }),
    );
  });
});
