import { cutToBytes } from '@plangate/contracts';
import type { Coverage } from './areas.ts';
import type { Area } from './covering.ts';
import { labelLine, type Phrases } from './phrases.ts';

const TITLE_BYTES = 400;

/** The query on one line, short enough for a title. */
export function shortQuery(query: string): string {
  const line = query.replace(/\s+/g, ' ').trim();
  const cut = cutToBytes(line, TITLE_BYTES);
  return cut === line ? line : `${cut}…`;
}

/** An area as the text of a plan's line: its name, the documents that cover it, and the wanted ones that do not. */
export function areaText({ title, documents, silent = [] }: Area, phrases: Phrases): string {
  if (documents.length === 0) return `**${title}** — ${phrases.nothing}`;
  const remark = silent.length > 0 ? `; ${phrases.silent(silent.join(', '))}` : '';
  return `**${title}** — ${phrases.sources}: ${documents.join(', ')}${remark}`;
}

/** A plan of numbered areas with their priority, what is left out, and what the documents are silent on. */
export function planText(
  { areas, missing, mentioned }: Coverage,
  query: string,
  documents: number,
  phrases: Phrases,
): string {
  const covered = areas.some((area) => area.documents.length > 0);
  const silent = [...missing, ...mentioned.map(phrases.mentioned)];
  return [
    `**${phrases.title(shortQuery(query))}**`,
    covered ? phrases.intro(documents) : phrases.stated,
    areas.map((area, index) => `${index + 1}. ${areaText(area, phrases)}`).join('\n'),
    [
      labelLine(phrases, 'priority', phrases.inOrder),
      labelLine(phrases, 'leftOut', phrases.otherContents),
      ...(silent.length > 0 ? [labelLine(phrases, 'missing', silent.join('; '))] : []),
    ].join('\n'),
  ].join('\n\n');
}
