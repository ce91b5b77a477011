import { cutToBytes } from '@plangate/contracts';
import type { Area, Coverage } from './areas.ts';
import { labelLine, type Phrases } from './phrases.ts';

const TITLE_BYTES = 400;

/** The query on one line, short enough for a title. */
export function shortQuery(query: string): string {
  const line = query.replace(/\s+/g, ' ').trim();
  const cut = cutToBytes(line, TITLE_BYTES);
  return cut === line ? line : `${cut}…`;
}

/** An area as the text of a plan's line: its name, and the documents that cover it. */
export function areaText({ title, documents }: Area, phrases: Phrases): string {
  return documents.length === 0
    ? `**${title}** — ${phrases.nothing}`
    : `**${title}** — ${phrases.sources}: ${documents.join(', ')}`;
}

/** A plan of numbered areas with their priority, what is left out, and what the documents are silent on. */
export function planText(
  { areas, missing }: Coverage,
  query: string,
  documents: number,
  phrases: Phrases,
): string {
  const covered = areas.some((area) => area.documents.length > 0);
  return [
    `**${phrases.title(shortQuery(query))}**`,
    covered ? phrases.intro(documents) : phrases.stated,
    areas.map((area, index) => `${index + 1}. ${areaText(area, phrases)}`).join('\n'),
    [
      labelLine(phrases, 'priority', phrases.inOrder),
      labelLine(phrases, 'leftOut', phrases.otherContents),
      ...(missing.length > 0 ? [labelLine(phrases, 'missing', missing.join('; '))] : []),
    ].join('\n'),
  ].join('\n\n');
}
