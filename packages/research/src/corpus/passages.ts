import { createHash } from 'node:crypto';
import type { Passage } from '@plangate/contracts';
import { type Block, markdownBlocks, plainBlocks } from './blocks.ts';
import type { DocumentText } from './document.ts';

/** A passage is filled up to this many UTF-16 units. */
const LONGEST = 1200;
/** A section shorter than this takes in the sub-section that follows. */
const SHORTEST = 400;
/** A code block or table is one passage at any length up to this; a longer one is data and left out. */
const LONGEST_WHOLE = 8000;

/** The passages of a document in reading order, each text once. */
export function splitPassages(document: DocumentText, url: string): Passage[] {
  const sections = document.parts.flatMap((part) =>
    sectionsOf(part.heading, part.markdown ? markdownBlocks(part.text) : plainBlocks(part.text)),
  );
  const passages = new Map<string, Passage>();
  for (const { heading, blocks } of sections) {
    for (const text of fill(blocks)) {
      const id = passageId(url, text);
      if (passages.has(id)) continue;
      passages.set(id, { id, title: document.title, url, source: 'local', text, heading });
    }
  }
  return [...passages.values()];
}

/** The same for the same text of the same source. */
function passageId(url: string, text: string): string {
  return createHash('sha256').update(`${url}\n${text}`).digest('hex').slice(0, 16);
}

type Section = { heading: string; level: number; blocks: Block[]; length: number };

function sectionsOf(heading: string, blocks: readonly Block[]): Section[] {
  let current: Section = { heading, level: 0, blocks: [], length: 0 };
  const sections = [current];
  for (const block of blocks) {
    if (block.kind !== 'heading') {
      current.blocks.push(block);
      current.length += block.text.length;
    } else if (block.level > current.level && current.length > 0 && current.length < SHORTEST) {
      current.blocks.push(block);
    } else {
      current = { heading: block.text, level: block.level, blocks: [], length: 0 };
      sections.push(current);
    }
  }
  return sections;
}

function fill(blocks: readonly Block[]): string[] {
  const texts: string[] = [];
  let open: string[] = [];
  let length = 0;
  const close = () => {
    const text = open.join('\n\n').replace(/^\n+|\s+$/g, '');
    if (/[\p{L}\p{N}]/u.test(text)) texts.push(text);
    open = [];
    length = 0;
  };
  for (const piece of blocks.flatMap(pieces)) {
    if (length > 0 && length + piece.length > LONGEST) close();
    open.push(piece);
    length += piece.length + 2;
  }
  close();
  return texts;
}

function pieces(block: Block): string[] {
  if (block.kind === 'code' || block.kind === 'table') {
    return block.text.length > LONGEST_WHOLE ? [] : [block.text];
  }
  if (block.text.length <= LONGEST) return [block.text];
  if (block.kind === 'list') return join(splitLines(block.text));
  return join(split(block.text, 'sentence'));
}

function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/).flatMap((line) => (line.length > LONGEST ? split(line, 'sentence') : [line]));
}

function split(text: string, granularity: 'sentence' | 'word' | 'grapheme'): string[] {
  const finer = granularity === 'sentence' ? 'word' : 'grapheme';
  return Array.from(
    new Intl.Segmenter('en', { granularity }).segment(text),
    ({ segment }) => segment,
  ).flatMap((segment) =>
    segment.length > LONGEST && granularity !== 'grapheme' ? join(split(segment, finer)) : [segment],
  );
}

/** Puts neighbours together as long as they fit in one passage. */
function join(parts: readonly string[]): string[] {
  const joined: string[] = [];
  let open = '';
  for (const part of parts) {
    if (open !== '' && open.length + part.length > LONGEST) {
      joined.push(open.trimEnd());
      open = '';
    }
    open += part;
  }
  if (open.trim() !== '') joined.push(open.trimEnd());
  return joined;
}
