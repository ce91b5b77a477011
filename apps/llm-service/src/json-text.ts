import { jsonrepair } from 'jsonrepair';

/** Characters that repairs may read in all: each failed one costs as much as its text is long, and there may be many. */
const MOST_REPAIRED = 256 * 1024;
/** After this many brackets that started nothing the rest is taken as prose. */
const MOST_FAILED = 50;

/**
 * Every JSON object or array that stands in a text, in order: between prose, in fences of any kind (also unclosed
 * ones), several in a row, cut short or slightly broken. Marks inside JSON strings are text. `[]` where there is none.
 */
export function jsonValues(text: string): unknown[] {
  const values: unknown[] = [];
  let at = 0;
  let failed = 0;
  let repairable = MOST_REPAIRED;
  while (at < text.length && failed < MOST_FAILED) {
    const start = nextStart(text, at);
    if (start < 0) break;
    const end = endOf(text, start);
    const piece = text.slice(start, end ?? text.length);
    let value = parsed(piece);
    if (value === undefined && piece.length <= repairable) {
      repairable -= piece.length;
      value = repaired(piece, end === undefined);
    }
    if (value === undefined) {
      failed += 1;
      at = start + 1;
    } else {
      values.push(value);
      at = start + piece.length;
    }
  }
  return values;
}

/** JSON starts where a bracket is followed by what JSON allows there: so `[1]` of prose and `{name}` are passed over. */
const START = /\{\s*(?:["'“}]|[A-Za-z_]\w*\s*:)|\[\s*(?:[{["'“\]])/g;

function nextStart(text: string, from: number): number {
  START.lastIndex = from;
  return START.exec(text)?.index ?? -1;
}

/** Index after the bracket that closes the one at `start`; undefined where it is never closed. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (mark === '"') {
      at = endOfString(text, at);
    } else if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Index of the closing quote of the string that opens at `at`; the end of the text where there is none. */
function endOfString(text: string, at: number): number {
  for (let index = at + 1; index < text.length; index += 1) {
    const mark = text.charAt(index);
    if (mark === '\\') index += 1;
    else if (mark === '"') return index;
  }
  return text.length;
}

function parsed(piece: string): unknown {
  try {
    return JSON.parse(piece);
  } catch {
    return undefined;
  }
}

function repaired(piece: string, cut: boolean): unknown {
  try {
    const value: unknown = JSON.parse(jsonrepair(cut ? withoutClosingFence(piece) : piece));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function withoutClosingFence(piece: string): string {
  return piece.replace(/\n\s*(?:`{3,}|~{3,})[^\n]*(?:\n[\s\S]*)?$/, '');
}
