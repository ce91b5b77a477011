/**
 * The value as Python's `str()` prints it, which the texts of the contract use: None, True, False; text as it is;
 * lists and objects with their members as `repr()` prints them.
 */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}

/** The texts as Python prints a list of them: `['a', 'b']`. */
export function pythonList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return numeral(value);
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([key, member]) => `${quoted(key)}: ${pythonRepr(member)}`);
    return `{${members.join(', ')}}`;
  }
  return String(value);
}

function numeral(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return String(value);
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return `${quote}${body}${quote}`;
}
