/** A stretch of a text, by UTF-16 offsets. */
export type Span = { start: number; end: number };

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const NEW_UNIT = /^\s*(?:[-*+•・]\s|\d{1,9}[.)]\s|#{1,6}\s|\||>|```|~~~)/;

/** The sentences of one paragraph; a line break in it is white space. */
export function sentences(paragraph: string): Span[] {
  return Array.from(segmenter.segment(paragraph.replaceAll('\n', ' ')), ({ segment, index }) => ({
    start: index,
    end: index + segment.length,
  }));
}

/** The sentences of a text of several paragraphs; list items, table rows and lines of code stand for themselves. */
export function textSentences(text: string): Span[] {
  return units(text).flatMap((unit) =>
    sentences(text.slice(unit.start, unit.end))
      .map((sentence) =>
        trimmed(text, { start: unit.start + sentence.start, end: unit.start + sentence.end }),
      )
      .filter((sentence) => sentence.end > sentence.start),
  );
}

function units(text: string): Span[] {
  const found: Span[] = [];
  let offset = 0;
  let open: Span | undefined;
  let fenced = false;
  for (const line of text.split('\n')) {
    const fence = /^\s*(?:```|~~~)/.test(line);
    const end = offset + line.length;
    if (line.trim() === '') open = undefined;
    else if (open && !fenced && !NEW_UNIT.test(line)) open.end = end;
    else {
      open = { start: offset, end };
      found.push(open);
      if (fence || /^\s*#{1,6}\s/.test(line)) open = undefined;
    }
    if (fence) fenced = !fenced;
    offset = end + 1;
  }
  return found;
}

function trimmed(text: string, { start, end }: Span): Span {
  const piece = text.slice(start, end);
  const lead = piece.length - piece.trimStart().length;
  return { start: start + lead, end: start + Math.max(lead, piece.trimEnd().length) };
}
