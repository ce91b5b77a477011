/** A line of Markdown, and whether it belongs to a fenced code block (its fences included). */
export interface FencedLine {
  line: string;
  fenced: boolean;
}

const OPENING = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/;
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

/**
 * Marks the lines of `text` that stand in fenced code blocks (CommonMark 0.31 §4.5); a fence that is never closed
 * runs to the end.
 */
export function markFences(text: string): FencedLine[] {
  let fence: string | undefined;
  return text.split('\n').map((line) => {
    if (fence !== undefined) {
      const closing = CLOSING.exec(line)?.[1];
      if (closing?.startsWith(fence)) fence = undefined;
      return { line, fenced: true };
    }
    const opening = OPENING.exec(line);
    fence = opening?.[1] ?? opening?.[2];
    return { line, fenced: fence !== undefined };
  });
}
