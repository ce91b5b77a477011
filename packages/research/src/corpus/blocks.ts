import { inlineText } from './inline.ts';

/** A piece of a document that is read as one: headings start a section, code and tables are never cut. */
export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'prose' | 'list' | 'code' | 'table'; text: string };

const FENCE_OPEN = /^\s*(`{3,}|~{3,})(.*)$/;
const ATX = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const SETEXT = /^ {0,3}(=+|-{2,})\s*$/;
const HTML_HEADING = /^\s*<h([1-6])[^>]*>([\s\S]*?)<\/h[1-6]>\s*$/i;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const REFERENCE = /^ {0,3}\[[^\]]+\]:\s*\S+/;
const LINK_LEFT = /\[[^\]]*\]\([^)]*\)|\[[^\]]*\]\[[^\]]*\]|<?https?:\/\/\S+>?|<\/?[a-z][^>]*>/gi;
const WORDS = /[\p{L}\p{N}]/u;

/** The blocks of a Markdown text, without comments, badges, link-only lines and reference definitions. */
export function markdownBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = withoutComments(text).split('\n');
  let open: string[] = [];
  const close = () => {
    const block = proseBlock(open);
    if (block) blocks.push(block);
    open = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const special = code(lines, at) ?? table(lines, at, open) ?? heading(lines, at, open);
    if (special) {
      if (special.block.kind === 'table' || (special.block.kind === 'heading' && special.setext)) open.pop();
      close();
      blocks.push(special.block);
      at = special.last;
    } else if (line.trim() === '' || RULE.test(line)) close();
    else {
      if (LIST_ITEM.test(line) && open.length > 0 && !open.some((other) => LIST_ITEM.test(other))) close();
      open.push(line);
    }
  }
  close();
  return blocks;
}

/** The paragraphs of a text without markup. */
export function plainBlocks(text: string): Block[] {
  return text
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.replace(/[ \t]+$/gm, '').replace(/^\n+|\n+$/g, ''))
    .filter((paragraph) => WORDS.test(paragraph))
    .map((paragraph) => ({ kind: LIST_ITEM.test(paragraph) ? 'list' : 'prose', text: paragraph }) as const);
}

type Special = { block: Block; last: number; setext?: boolean };

function code(lines: readonly string[], at: number): Special | undefined {
  const mark = FENCE_OPEN.exec(lines[at] ?? '');
  const fence = mark?.[1];
  if (!fence || (fence.startsWith('`') && mark[2]?.includes('`'))) return undefined;
  let last = at + 1;
  while (last < lines.length && !closes(lines[last] ?? '', fence)) last += 1;
  const end = Math.min(last, lines.length - 1);
  return { block: { kind: 'code', text: lines.slice(at, end + 1).join('\n') }, last: end };
}

function closes(line: string, fence: string): boolean {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === fence.charAt(0).repeat(trimmed.length);
}

/** A table is known by the rule under its first row, which was read as prose by then. */
function table(lines: readonly string[], at: number, open: readonly string[]): Special | undefined {
  const head = open.at(-1);
  const rule = lines[at] ?? '';
  if (!head?.includes('|') || !rule.includes('|') || !TABLE_RULE.test(rule)) return undefined;
  let last = at;
  while (lines[last + 1]?.includes('|')) last += 1;
  const text = [head, ...lines.slice(at, last + 1)].map((row) => inlineText(row)).join('\n');
  return { block: { kind: 'table', text }, last };
}

function heading(lines: readonly string[], at: number, open: readonly string[]): Special | undefined {
  const line = lines[at] ?? '';
  const atx = ATX.exec(line);
  if (atx) return { block: headingBlock(atx[1]?.length ?? 1, atx[2] ?? ''), last: at };
  const html = HTML_HEADING.exec(line);
  if (html) return { block: headingBlock(Number(html[1]), html[2] ?? ''), last: at };
  const setext = SETEXT.exec(line);
  if (!setext || open.length !== 1 || LIST_ITEM.test(open[0] ?? '')) return undefined;
  return { block: headingBlock(setext[1]?.startsWith('=') ? 1 : 2, open[0] ?? ''), last: at, setext: true };
}

function headingBlock(level: number, text: string): Block {
  return { kind: 'heading', level, text: inlineText(text).replaceAll('`', '').replace(/\s+/g, ' ').trim() };
}

function proseBlock(lines: readonly string[]): Block | undefined {
  const kept = lines.filter((line) => !REFERENCE.test(line) && hasOwnWords(line));
  const text = inlineText(kept.join('\n'))
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => WORDS.test(line))
    .join('\n');
  if (text === '') return undefined;
  return { kind: kept.some((line) => LIST_ITEM.test(line)) ? 'list' : 'prose', text };
}

/** False for a badge and for a line that holds links and no other words (so a table of contents goes too). */
function hasOwnWords(line: string): boolean {
  const images = /!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?/g;
  return WORDS.test(line.replace(images, '').replace(LINK_LEFT, '').replace(LIST_ITEM, ''));
}

/** Comments outside code fences are removed; an unclosed one runs to the end. */
function withoutComments(text: string): string {
  if (!text.includes('<!--')) return text;
  const pieces = text.split(/(^[ \t]*(?:```|~~~)[^\n]*\n[\s\S]*?^[ \t]*(?:```|~~~)[ \t]*$)/m);
  return pieces
    .map((piece, index) => (index % 2 ? piece : piece.replace(/<!--[\s\S]*?(?:-->|$)/g, '')))
    .join('');
}
