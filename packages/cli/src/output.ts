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
/**
 * What changes the order in which a text is shown, or is not shown at all; joiners stay, as emoji and Indic scripts
 * are written with them.
 */
const UNSEEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Text from elsewhere without what a terminal would obey, and with what it would hide: what is seen is what is there. */
export function plain(text: string): string {
  return text.replace(CONTROLS, '').replace(UNSEEN, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
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
