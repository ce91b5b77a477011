import { cleanText } from '@plangate/contracts';
import { mapText } from './markdown.ts';

const IMAGE = /!\[([^[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*){0,4}\)|\[[^[\]]*\])?/g;
const LINK = /(\[([^[\]]*)\])\(\s*([^()\s]*(?:\([^()\s]*\)[^()\s]*){0,4})([^()]*)\)/g;
const LINK_START = /\]\((?!\s*<?(?:https?:\/\/|mailto:))/gi;
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)/i;
const LONGEST_NUMBER = 12;
const NUMBER = /^\^?\d+$/;

/**
 * Markdown that loads nothing and runs nothing when it is rendered, whatever the model wrote: `<` is text, pictures
 * leave their words, links lead to http, https and mail only, and there are no reference definitions. Code stays
 * as it is.
 */
export function neutralMarkup(text: string): string {
  return mapText(cleanText(text), (piece) =>
    piece
      .replace(/<br\s*\/?>/gi, ' ')
      .replace(/<((?:https?:\/\/|mailto:)[^\s<>]*)>/gi, '$1')
      .replaceAll('<', '&lt;')
      .replace(IMAGE, '$1')
      .replace(/!(?=\[)/g, '! ')
      .replace(LINK, linkOrText)
      .replace(LINK_START, '] (')
      .replace(/^((?:[\s>*+-]|\d+[.)])*\[[^[\]]*\]):/, '$1 :')
      .replace(/\](?=:)/g, (_, at: number, whole: string) => (isReference(whole, at) ? ']' : '] ')),
  );
}

/** One line of neutral text for a title: no markup that could open a link, a reference or a heading. */
export function neutralLine(text: string): string {
  const line = cleanText(text).replace(/\s+/g, ' ').replace(/[[\]]/g, ' ').replaceAll('`', '').trim();
  return neutralMarkup(line)
    .replace(/\s+/g, ' ')
    .replace(/^[#>\s]+/, '')
    .trim();
}

function linkOrText(whole: string, bracketed: string, label: string, address: string): string {
  if (NUMBER.test(label)) return bracketed;
  return SAFE_ADDRESS.test(address) ? whole : label;
}

/** A number in brackets behind other words is a reference of the report and never a definition. */
function isReference(line: string, bracket: number): boolean {
  const open = /\[\^?\d+$/.exec(line.slice(Math.max(0, bracket - LONGEST_NUMBER), bracket));
  return open !== null && /[\p{L}\p{N}]/u.test(line.slice(0, bracket - open[0].length));
}
