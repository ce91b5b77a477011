import { inlineText } from './inline.ts';

/** A document as text: parts in reading order. */
export type DocumentText = {
  title: string;
  parts: { heading: string; text: string; markdown: boolean }[];
};

const FENCE = /^\s*(?:```|~~~)/;
const ATX = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
const HTML_HEADING = /<h[1-6][^>]*>([\s\S]*?)<\/h[1-6]>/i;
const SETEXT = /^ {0,3}(?:=+|-{3,})\s*$/;

/** The words of a Markdown text's first heading; undefined where there is none or it is a picture. */
export function markdownTitle(text: string): string | undefined {
  const lines = text.replace(/<!--[\s\S]*?(?:-->|$)/g, '').split('\n');
  let fenced = false;
  for (const [index, line] of lines.entries()) {
    if (FENCE.test(line)) fenced = !fenced;
    if (fenced) continue;
    const heading =
      ATX.exec(line)?.[1] ??
      (line.trim() !== '' && SETEXT.test(lines[index + 1] ?? '') ? line : undefined) ??
      HTML_HEADING.exec(line.includes('<h') ? lines.slice(index, index + 10).join('\n') : '')?.[1];
    if (heading === undefined) continue;
    const title = inlineText(heading).replaceAll('`', '').replace(/\s+/g, ' ').trim();
    return /[\p{L}\p{N}]/u.test(title) ? title : undefined;
  }
  return undefined;
}
