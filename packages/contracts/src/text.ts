/** Rules for untrusted text (users', models', pages'): one place, so that every limit counts the same thing. */

const CONTROL_EXCEPT_TAB_AND_LF = /(?![\t\n])\p{Cc}/gu;
const ONLY_INVISIBLE = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}]*$/u;
const encoder = new TextEncoder();

/**
 * Makes text safe to store and to stream: lone surrogates become U+FFFD, CRLF and CR become LF, control
 * characters other than tab and LF are removed. Format characters (bidi marks, joiners) are text and stay.
 */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(CONTROL_EXCEPT_TAB_AND_LF, '');
}

/** True when nothing visible is left: white space and default-ignorable code points only. */
export function isBlank(text: string): boolean {
  return ONLY_INVISIBLE.test(text);
}

/** Length in bytes of the UTF-8 encoding. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** Length in Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that ends between two graphemes. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || utf8Bytes(text) <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const { segment, index } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    bytes += utf8Bytes(segment);
    if (bytes > maxBytes) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}
