/** Line ends of Unicode that some stream readers split at, though SSE does not, and lone surrogates. */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g;
const ESCAPED_BACKSLASH_OR_LONE_SURROGATE = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/**
 * JSON on one line, whatever counts as a line end: CR and LF are escaped by JSON itself, U+0085, U+2028 and
 * U+2029 here. Lone surrogates, which not every reader can take, become U+FFFD.
 */
export function toJsonLine(value: unknown): string {
  const json = JSON.stringify(value).replace(LINE_SEPARATORS, escapeUnit);
  if (!json.includes('\\ud')) return json;
  return json.replace(ESCAPED_BACKSLASH_OR_LONE_SURROGATE, (match) => (match === '\\\\' ? match : '\\ufffd'));
}

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
