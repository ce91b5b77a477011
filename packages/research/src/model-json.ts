import { Question } from '@plangate/contracts';
import { jsonrepair } from 'jsonrepair';

const FENCE_LINE = /^[ \t]*(?:```|~~~)[\w-]*[ \t]*$/gm;
const MOST_TRIES = 20;

/**
 * The first JSON object or array that stands in a model's answer, whatever surrounds it: prose, fences (nested or
 * unclosed), a second object. Small faults are repaired. Undefined where there is none.
 */
export function jsonIn(answer: string): unknown {
  let tries = 0;
  for (let at = nextOpen(answer, 0); at >= 0 && tries < MOST_TRIES; at = nextOpen(answer, at + 1)) {
    tries += 1;
    const end = endOf(answer, at);
    const value = parsed(answer.slice(at, end ?? answer.length), end === undefined);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The questions of a model's decomposition, at most `maxQuestions`; `[]` where the answer holds none. */
export function questionsIn(answer: string, { maxQuestions }: { maxQuestions: number }): Question[] {
  const value = jsonIn(answer);
  const list = Array.isArray(value)
    ? value
    : ((value as { questions?: unknown } | undefined)?.questions ?? []);
  if (!Array.isArray(list)) return [];
  return list
    .map((entry: unknown) => (typeof entry === 'string' ? { text: entry } : (entry as Partial<Question>)))
    .flatMap((entry, index) => {
      const question = Question.safeParse({ terms: [], ...entry, id: `q${index + 1}` });
      return question.success && question.data.text.trim() !== '' ? [question.data] : [];
    })
    .slice(0, maxQuestions);
}

function nextOpen(text: string, from: number): number {
  const at = text.slice(from).search(/[{[]/);
  return at < 0 ? -1 : from + at;
}

/** Where the value that opens at `at` closes, strings respected; undefined where it does not. */
function endOf(text: string, at: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let i = at; i < text.length; i += 1) {
    const sign = text[i];
    if (quoted) {
      if (sign === '\\') i += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}

function parsed(text: string, unclosed: boolean): object | undefined {
  for (const read of [
    () => text,
    () => jsonrepair(unclosed ? text.replace(FENCE_LINE, '').trimEnd() : text),
  ]) {
    try {
      const value: unknown = JSON.parse(read());
      if (isData(value)) return value;
    } catch {
      // The next reading, or the next opening bracket, is tried.
    }
  }
  return undefined;
}

/** Words in brackets, such as `[note]`, are repaired to a list of one word: that is prose and not data. */
function isData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(value)) return Object.keys(value).length > 0;
  return value.length > 0 && value.some((entry) => typeof entry === 'object' || String(entry).includes(' '));
}
