const TITLE_LIMIT_CODE_POINTS = 60;

/** The title of a new session: the first words of its first query, at most 60 code points, on one line. */
export function sessionTitle(query: string): string {
  const line = query.trim().replace(/\s+/gu, ' ');
  let title = '';
  let length = 0;
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(line)) {
    length += [...segment].length;
    if (length > TITLE_LIMIT_CODE_POINTS) break;
    title += segment;
  }
  return title.trimEnd();
}
