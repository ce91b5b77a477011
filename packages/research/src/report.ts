import type { Citation, Passage } from '@plangate/contracts';
import { type CheckedReport, checkCitations } from './citations.ts';
import { markdownLines } from './markdown.ts';
import { neutralLine, neutralMarkup } from './neutral-markup.ts';

export type ReportParts = {
  /** Heading of the report; used where the body does not begin with one of its own. */
  title: string;
  /** What the model wrote: Markdown with references `[n]`. */
  body: string;
  /** The passages by the numbers that the model was given. */
  passages: ReadonlyMap<number, Passage>;
  verify: boolean;
  /** `mark` where not given. */
  mark?: 'mark' | 'drop';
  /** False: no references, no sources, no citations. */
  enableCitations: boolean;
  /** Questions that no passage was found for. */
  unanswered?: readonly string[];
};

const SOURCES = '## Sources';
const SOURCES_HEADING =
  /^\s*(?:#{1,6}\s*|\*\*)(?:sources?|references?|bibliography|citations?|works cited|参考文献|参考資料|出典|情報源|来源|來源|参考资料|參考資料|引用|sumber|referensi|daftar pustaka)\s*[:：]?\s*(?:\*\*|#*)\s*[:：]?\s*$/i;
const SOURCE_LINE = /^\s*(?:[-*+]|\d+[.)]|\[|【|https?:)/;
const OWN_TITLE = /^\s*#\s/;

/**
 * The report as it is handed out: title, body with checked references, what did not hold, what was not found, and
 * the sources. It is Markdown that loads and runs nothing (`neutralMarkup`).
 */
export function finishReport(parts: ReportParts): CheckedReport {
  const { verify, mark = 'mark', enableCitations } = parts;
  const body = neutralMarkup(withoutOwnSources(parts.body)).trim();
  const checked = checkCitations(body, parts.passages, { verify, mark, numbers: enableCitations });
  const pieces = [
    OWN_TITLE.test(checked.report) ? '' : `# ${neutralLine(parts.title)}`,
    checked.report.trim(),
    verificationNote(checked, mark, verify),
    unansweredNote(parts.unanswered ?? []),
    checked.citations.length > 0 ? `${SOURCES}\n\n${sourcesList(checked.citations)}` : '',
  ];
  return { ...checked, report: `${pieces.filter((piece) => piece !== '').join('\n\n')}\n` };
}

/** One line per source, `- [n] title — url`. */
export function sourcesList(citations: readonly Citation[]): string {
  return citations
    .map(({ n, title, url }) => `- [${n}] ${neutralLine(title)} — ${neutralLine(url)}`)
    .join('\n');
}

function verificationNote({ verification }: CheckedReport, mark: 'mark' | 'drop', verify: boolean): string {
  const { claims, unsupported } = verification;
  if (unsupported === 0) return '';
  const done = !verify
    ? 'they were removed'
    : mark === 'mark'
      ? 'they are marked'
      : 'what rested on them was left out';
  const fault = verify ? 'do not hold against their source' : 'point to no source';
  return `> Note: ${unsupported} of ${claims} citations ${fault}; ${done}.`;
}

function unansweredNote(questions: readonly string[]): string {
  if (questions.length === 0) return '';
  return `> The documents hold nothing on:\n${questions.map((text) => `> - ${neutralLine(text)}`).join('\n')}`;
}

/** A list of sources that the model made itself goes: the true one takes its place. */
function withoutOwnSources(body: string): string {
  const lines = markdownLines(body);
  const at = lines.findLastIndex((line) => !line.code && SOURCES_HEADING.test(line.text));
  if (at < 0) return body;
  const after = lines.slice(at + 1);
  if (!after.every(({ text, code }) => !code && (text.trim() === '' || SOURCE_LINE.test(text)))) return body;
  return lines
    .slice(0, at)
    .map((line) => line.text)
    .join('\n');
}
