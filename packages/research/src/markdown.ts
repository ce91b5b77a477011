/** A line of Markdown; `code` where it belongs to a fenced block, its fences included. */
export type MarkdownLine = { text: string; code: boolean };

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;

/**
 * The lines of a text with those of fenced code known. Where renderers could see it in two ways a line counts as
 * text: an indented fence ends at the first line that is indented less, because a list item ends there.
 */
export function markdownLines(text: string): MarkdownLine[] {
  let fence: { mark: string; indent: number } | undefined;
  return text.split('\n').map((line) => {
    if (fence) {
      if (line.trim() === '' || indentOf(line) >= fence.indent) {
        if (closes(line, fence.mark)) fence = undefined;
        return { text: line, code: true };
      }
      fence = undefined;
    }
    const open = FENCE.exec(line);
    const mark = open?.[2];
    if (!mark || (mark.startsWith('`') && open?.[3]?.includes('`'))) return { text: line, code: false };
    fence = { mark, indent: open?.[1]?.length ?? 0 };
    return { text: line, code: true };
  });
}

/** Start and end of the code spans of one line, in linear time. In a table row a span ends with its cell. */
export function codeSpans(line: string): { start: number; end: number }[] {
  if (!line.includes('`')) return [];
  const cells = line.includes('|') ? [...line.matchAll(/[^|]+/g)] : [...line.matchAll(/.+/gs)];
  return cells.flatMap(({ 0: cell, index }) =>
    spansOf(cell).map(({ start, end }) => ({ start: start + index, end: end + index })),
  );
}

/** Applies `change` to what is not code: the lines outside fences, and in them the pieces outside code spans. */
export function mapText(text: string, change: (piece: string) => string): string {
  return markdownLines(text)
    .map((line) => (line.code ? line.text : mapLine(line.text, change)))
    .join('\n');
}

function mapLine(line: string, change: (piece: string) => string): string {
  let result = '';
  let end = 0;
  for (const span of codeSpans(line)) {
    result += change(line.slice(end, span.start)) + line.slice(span.start, span.end);
    end = span.end;
  }
  return result + change(line.slice(end));
}

function spansOf(cell: string): { start: number; end: number }[] {
  const runs = [...cell.matchAll(/`+/g)].map(({ 0: run, index }) => ({ start: index, length: run.length }));
  const later = new Map<number, number[]>();
  for (const run of runs.toReversed()) {
    const starts = later.get(run.length) ?? [];
    starts.push(run.start);
    later.set(run.length, starts);
  }
  const spans: { start: number; end: number }[] = [];
  let free = 0;
  for (const run of runs) {
    if (run.start < free) continue;
    const escaped = isEscaped(cell, run.start);
    const start = escaped ? run.start + 1 : run.start;
    const length = run.start + run.length - start;
    const starts = later.get(length);
    while (starts?.length && (starts.at(-1) ?? 0) <= start) starts.pop();
    const close = length > 0 ? starts?.at(-1) : undefined;
    if (close === undefined) continue;
    free = close + length;
    spans.push({ start, end: free });
  }
  return spans;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

function closes(line: string, mark: string): boolean {
  const trimmed = line.trim();
  return (
    indentOf(line) <= 3 && trimmed.length >= mark.length && trimmed === mark.charAt(0).repeat(trimmed.length)
  );
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
