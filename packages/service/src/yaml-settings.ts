import { readFileSync } from 'node:fs';
import { type Document, isMap, isSeq, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';

/** Settings that cannot be used; the message says where they stand and what to do. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** An environment variable that wins over one setting of the file. */
export interface EnvironmentVariable {
  name: string;
  path: string[];
  type: 'text' | 'number' | 'boolean' | 'list';
  /** Its value is never shown. */
  secret?: boolean;
}

interface Overrides {
  environment: NodeJS.ProcessEnv;
  variables: EnvironmentVariable[];
}

/**
 * Reads a YAML file, lays environment variables over it and checks the whole against `schema`.
 * @throws {SettingsError} with `file:line: path: reason`, or with the variable's name
 */
export function readYamlSettings<T extends z.ZodType>(
  file: string,
  schema: T,
  overrides: Overrides = { environment: {}, variables: [] },
): z.infer<T> {
  const lines = new LineCounter();
  const document = parseDocument(readFile(file), { lineCounter: lines, uniqueKeys: true });
  const [syntax] = document.errors;
  if (syntax) {
    throw new SettingsError(`${file}:${lines.linePos(syntax.pos[0]).line}: ${syntax.message.split('\n')[0]}`);
  }
  const values: unknown = document.toJS() ?? {};
  const used = applyEnvironment(values, overrides);
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;

  const faults = parsed.error.issues.flatMap((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    return unknown.map((key) => {
      const path = [...issue.path, ...(key === undefined ? [] : [key])];
      const name = path.join('.');
      const reason = key === undefined ? issue.message : 'unknown setting';
      const variable = used.find((candidate) => candidate.path.join('.') === name);
      if (variable) {
        const got = variable.secret ? '' : ` (got '${overrides.environment[variable.name]}')`;
        return `${variable.name}: ${reason}${got}`;
      }
      return `${file}:${lineOf(document, path, lines)}: ${name}: ${reason}`;
    });
  });
  throw new SettingsError(faults.join('\n'));
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Lays the variables that are set over `values` in place; returns those. */
function applyEnvironment(values: unknown, { environment, variables }: Overrides): EnvironmentVariable[] {
  const used = variables.filter(({ name }) => environment[name] !== undefined && environment[name] !== '');
  for (const { name, path, type } of used) {
    const last = path.at(-1);
    if (last === undefined) continue;
    let target = values as Record<string, unknown>;
    for (const key of path.slice(0, -1)) {
      if (typeof target[key] !== 'object' || target[key] === null) target[key] = {};
      target = target[key] as Record<string, unknown>;
    }
    target[last] = convert(environment[name] ?? '', type);
  }
  return used;
}

const BOOLEANS: Record<string, boolean> = { '1': true, true: true, '0': false, false: false };

/** The typed value of a variable's text; text that does not fit stays text, so that the schema names it. */
function convert(text: string, type: EnvironmentVariable['type']): unknown {
  if (type === 'boolean') return BOOLEANS[text.toLowerCase()] ?? text;
  if (type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === 'list') {
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  return text;
}

/** The line of the deepest part of `path` that stands in the document. */
function lineOf(document: Document.Parsed, path: PropertyKey[], lines: LineCounter): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => String(item.key) === String(key));
      if (!pair) break;
      offset = rangeStart(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = rangeStart(node) ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined;
  const { range } = node as { range?: [number, number, number] | null };
  return range?.[0];
}
