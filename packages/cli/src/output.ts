import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where the command writes. */
export interface Output {
  /** Results as JSON, for scripts. */
  readonly isJson: boolean;
  /** Text for a person, or JSON instead of it. */
  result(json: unknown, text: () => string): void;
  /** A line that is part of the result. */
  line(text: string): void;
  /** A line that is not: progress and hints, on standard error. */
  note(text: string): void;
  /** Text with a style, where standard output is a terminal that shows it and NO_COLOR is not set. */
  style(style: Style, text: string): string;
}

export function createOutput(isJson: boolean): Output {
  const line = (text: string) => void process.stdout.write(`${text}\n`);
  return {
    isJson,
    line,
    result(json, text) {
      line(isJson ? JSON.stringify(json) : text());
    },
    note: (text) => void process.stderr.write(`${text}\n`),
    style: (style, text) => styleText(style, text, { stream: process.stdout }),
  };
}

const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** Text from elsewhere without what a terminal would obey. */
export function plain(text: string): string {
  return text.replace(CONTROLS, '');
}

/** The first line of a text, cut to `width` characters. */
export function firstLine(text: string, width = 100): string {
  const line = [...(plain(text).split('\n', 1)[0] ?? '')];
  return line.length > width ? `${line.slice(0, width - 1).join('')}…` : line.join('');
}

/** Rows under each other, every column as wide as its widest cell. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
