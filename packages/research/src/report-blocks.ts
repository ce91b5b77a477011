import { markdownLines } from './markdown.ts';

/** A piece of a report; its text is judged on its own, its prefix is a list or quote mark. */
export type ReportBlock = { kind: 'code' | 'blank' | 'heading' | 'text'; prefix: string; text: string };

const PREFIX = /^[ \t]*(?:>[ \t]?)*[ \t]*(?:(?:[-*+•・]|\d{1,9}[.)])[ \t]+)?/;
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/;
const MARKED = /[>\-*+•・]|\d[.)]/;

/** A report as blocks in order; each is one line or, for a paragraph or list item, several. */
export function reportBlocks(report: string): ReportBlock[] {
  const blocks: { kind: ReportBlock['kind']; prefix: string; lines: string[] }[] = [];
  let open = false;
  for (const { text, code } of markdownLines(report)) {
    const prefix = PREFIX.exec(text)?.[0] ?? '';
    const last = blocks.at(-1);
    if (code || text.trim() === '') {
      blocks.push({ kind: code ? 'code' : 'blank', prefix: '', lines: [text] });
      open = false;
    } else if (HEADING.test(text)) {
      blocks.push({ kind: 'heading', prefix: '', lines: [text] });
      open = false;
    } else if (open && last && !MARKED.test(prefix) && !text.trimStart().startsWith('|'))
      last.lines.push(text);
    else {
      blocks.push({ kind: 'text', prefix, lines: [text.slice(prefix.length)] });
      open = !text.trimStart().startsWith('|');
    }
  }
  return blocks.map(({ kind, prefix, lines }) => ({ kind, prefix, text: lines.join('\n') }));
}

/** The report that the blocks make; a text block that has lost its words goes with its mark. */
export function joinBlocks(blocks: readonly ReportBlock[]): string {
  return blocks
    .filter((block) => block.kind !== 'text' || block.text.trim() !== '')
    .map((block) => block.prefix + block.text)
    .join('\n');
}
