import { labelled } from './phrases.ts';

/** An area of a plan: its own line and the lines that belong to it. */
export interface PlanItem {
  /** Text without marker and emphasis. */
  text: string;
  /** Its lines as they stand. */
  lines: string[];
}

/** A plan as text around its areas; joining all lines gives the plan again. */
export type PlanPart = { kind: 'text'; line: string } | { kind: 'item'; item: PlanItem };

export type PlanStyle = 'numbers' | 'bullets' | 'plain';

export interface PlanLines {
  style: PlanStyle;
  parts: PlanPart[];
}

const NUMBER = /^ {0,3}(?:\*\*|__)?(?:#{1,6} +)?(?:\(?\d{1,3}(?:[.)](?=\s|\*|\D)|[、．）])|[①-⑳])\s*(?=\S)/u;
const BULLET = /^ {0,3}(?:[-*+]\s+|[•・●○▪]\s*)(?=\S)/u;
const MARKER = /^ {0,3}(?:\(?\d{1,3}[.)、．）]|[-*+•・●○▪])\s*/u;
const STANDARD = { numbers: '1. ', bullets: '- ' };
const HEADING = /^ {0,3}#{1,6}\s|^\s*\*\*[^*]+\*\*[:：]?\s*$/;
const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });

/**
 * Reads any plan: a numbered list, else a bulleted one, else its sentences; so also one that a person edited or a
 * model wrote.
 */
export function readPlan(plan: string): PlanLines {
  const lines = plan.split('\n');
  for (const [style, marker] of [
    ['numbers', NUMBER],
    ['bullets', BULLET],
  ] as const) {
    const parts = groupLines(lines, marker);
    if (parts.some(({ kind }) => kind === 'item')) return { style, parts };
  }
  return { style: 'plain', parts: lines.flatMap(plainParts) };
}

/** The areas of a plan in order. */
export function itemsOf({ parts }: PlanLines): PlanItem[] {
  return parts.flatMap((part) => (part.kind === 'item' ? [part.item] : []));
}

/** What the plan puts into focus, as it says it; empty where it says nothing. */
export function focusIn(plan: string): string {
  const found = plan
    .split('\n')
    .map(labelled)
    .find((line) => line?.label === 'focus');
  return found?.content ?? '';
}

/** The plan as text again, its numbers in sequence. */
export function writePlan({ style, parts }: PlanLines): string {
  let number = 0;
  const lines = parts.flatMap((part) => {
    if (part.kind === 'text') return [part.line];
    number += 1;
    const [first = '', ...more] = part.item.lines;
    return [style === 'numbers' ? renumber(first, number) : first, ...more];
  });
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** A new area in the plan's own style; its number is set when the plan is written. */
export function newItem(plan: PlanLines, text: string): PlanItem {
  const like = itemsOf(plan).at(-1)?.lines[0] ?? '';
  const marker = plan.style === 'plain' ? '' : (MARKER.exec(like)?.[0] ?? STANDARD[plan.style]);
  return { text: withoutMarks(text), lines: [`${marker}${text}`] };
}

/** The area with another text behind its marker; the lines under it stay. */
export function withText(item: PlanItem, text: string): PlanItem {
  const [first = '', ...more] = item.lines;
  return { text: withoutMarks(text), lines: [`${MARKER.exec(first)?.[0] ?? ''}${text}`, ...more] };
}

function renumber(line: string, number: number): string {
  return line.replace(/\d{1,3}|[①-⑳]/u, (found) => (/\d/.test(found) ? String(number) : `${number}.`));
}

function groupLines(lines: readonly string[], marker: RegExp): PlanPart[] {
  const parts: PlanPart[] = [];
  let open: PlanItem | undefined;
  for (const line of lines) {
    if (marker.test(line) && !labelled(line.replace(marker, ''))) {
      open = { text: withoutMarks(line.replace(marker, '')), lines: [line] };
      parts.push({ kind: 'item', item: open });
    } else if (open && belongsTo(line)) open.lines.push(line);
    else {
      open = undefined;
      parts.push({ kind: 'text', line });
    }
  }
  return parts;
}

/** Indented lines and bullets under a numbered area are part of it. */
function belongsTo(line: string): boolean {
  return /^(?: {2,}|\t)\S/.test(line) || (BULLET.test(line) && !labelled(line));
}

function plainParts(line: string): PlanPart[] {
  if (line.trim() === '' || HEADING.test(line) || labelled(line)) return [{ kind: 'text', line }];
  return Array.from(sentences.segment(line), ({ segment }) => segment.trim())
    .filter((sentence) => sentence !== '')
    .map((sentence) => ({ kind: 'item', item: { text: withoutMarks(sentence), lines: [sentence] } }));
}

function withoutMarks(text: string): string {
  return text
    .replace(/(\*\*|__|`)/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
