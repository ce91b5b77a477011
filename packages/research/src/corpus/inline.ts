const KEPT = /(`+)(?!`)([\s\S]*?[^`])\1(?!`)|\\[!-/:-@[-`{-~]/g;
const PLACE = /\u0000(\d+)\u0000/g;
const IMAGE = /!\[[^[\]]*\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^[\]]*\])?/g;
const LINK = /\[([^[\]]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^[\]]*\])/g;
const AUTOLINK = /<((?:https?|mailto):[^\s<>]*)>/g;
const TAG = /<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>/gi;
const BOLD = /(\*\*|__)(?=\S)([^\n]*?\S)\1/g;
const ENTITY = /&(amp|lt|gt|quot|nbsp|mdash|copy);/g;
const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  mdash: '—',
  copy: '©',
};

/**
 * Markdown inline text without what a reader does not read: images and badges go, a link leaves its words, tags,
 * escapes and bold marks go; code spans stay letter by letter.
 */
export function inlineText(text: string): string {
  const kept: string[] = [];
  return text
    .replaceAll('\u0000', '')
    .replace(KEPT, (whole) => `\u0000${kept.push(whole.startsWith('\\') ? whole.slice(1) : whole) - 1}\u0000`)
    .replace(IMAGE, '')
    .replace(AUTOLINK, '$1')
    .replace(TAG, '')
    .replace(ENTITY, (_, name: string) => NAMED[name] ?? '')
    .replace(IMAGE, '')
    .replace(LINK, '$1')
    .replace(BOLD, '$2')
    .replace(PLACE, (_, place: string) => kept[Number(place)] ?? '');
}
