import type { Citation, Passage, Verification } from '@plangate/contracts';
import { mapText } from './markdown.ts';
import { type CitedSentence, type Cluster, citedSentences } from './references.ts';
import { joinBlocks, type ReportBlock, reportBlocks } from './report-blocks.ts';
import { type Claim, readClaim, type Support, supportOf } from './support.ts';

export type CitationOptions = {
  /** Checks each claim against the words of its passage; else a reference needs only a passage that exists. */
  verify: boolean;
  /** What happens to a claim that does not hold: it is marked, or its sentence is dropped. */
  mark: 'mark' | 'drop';
  /** False removes the references after they were checked; true where not given. */
  numbers?: boolean;
};

export type CheckedReport = {
  report: string;
  /** Sources that the report cites, n from 1 in order of first use. */
  citations: Citation[];
  /** References counted; `supported` stays 0 where claims were not checked. */
  verification: Verification;
};

/** Stands behind a claim whose passage does not carry it, inside the brackets of its reference. */
export const UNSUPPORTED_MARK = 'not supported by its source';
/** Stands in the place of a reference to a passage that does not exist. */
export const MISSING_MARK = '[no such source]';

type Cited = { passage: Passage; quote: string; checked: boolean; n: number };
type Check = {
  options: CitationOptions;
  passages: ReadonlyMap<number, Passage>;
  supports: Map<number, (claim: Claim) => Support>;
  /** Claims of the block at hand: clusters of one sentence share it. */
  claims: Map<string, Claim>;
  cited: Map<number, Cited>;
  verification: Verification;
};

/**
 * Checks every reference `[n]` of a report (`contract/plan-review.md §1`, `metadata.citations`) and numbers them
 * anew in order of first use. `checked` of a citation is true only where its quote carries a claim that cites it.
 */
export function checkCitations(
  report: string,
  passagesByN: ReadonlyMap<number, Passage>,
  options: CitationOptions,
): CheckedReport {
  const check: Check = {
    options,
    passages: passagesByN,
    supports: new Map(),
    claims: new Map(),
    cited: new Map(),
    verification: { claims: 0, supported: 0, unsupported: 0 },
  };
  const text = joinBlocks(reportBlocks(report).map((block) => checkBlock(block, check)));
  const citations = options.numbers === false ? [] : [...check.cited.values()].map(toCitation);
  return { report: withoutStray(text, citations.length), citations, verification: check.verification };
}

function toCitation({ passage, quote, checked, n }: Cited): Citation {
  const { title, url, source, id } = passage;
  return { n, title, url, source, passage_id: id, quote, checked };
}

function checkBlock(block: ReportBlock, check: Check): ReportBlock {
  if (block.kind === 'code' || block.kind === 'blank') return block;
  const { numbers = true } = check.options;
  const cited = citedSentences(block.text);
  if (cited.length === 0) return block;
  check.claims.clear();
  let text = '';
  let end = 0;
  for (const sentence of cited) {
    const judged = sentence.clusters.map((cluster) => ({ cluster, verdict: judge(cluster, check) }));
    if (isDropped(sentence, judged, block, check.options)) {
      text += block.text.slice(end, sentence.start);
      end = sentence.end;
      continue;
    }
    const anyHeld = judged.some(({ verdict }) => verdict.held.length > 0);
    for (const { cluster, verdict } of judged) {
      const shown = render(verdict, anyHeld, check);
      const before = block.text.slice(end, cluster.start);
      text += numbers && shown !== '' ? before + shown : withoutEndSpace(before) + (shown && ` ${shown}`);
      end = cluster.end;
    }
  }
  return { ...block, text: text + block.text.slice(end) };
}

/** White space before a reference that goes goes too, but never so that a new bracket comes about. */
function withoutEndSpace(text: string): string {
  return text.replace(/(?<![[\s])\s+$/, '');
}

/** The numbers of a cluster by what came out; not checked counts as held. */
type Verdict = { held: Found[]; failed: Found[]; missing: number };
type Found = { n: number; passage: Passage; quote: string };

function judge(cluster: Cluster, check: Check): Verdict {
  const claims = cluster.claims.map((text) => claimOf(text, check));
  const verdict: Verdict = { held: [], failed: [], missing: cluster.unusable };
  for (const n of cluster.numbers) {
    const passage = check.passages.get(n);
    if (!passage) {
      verdict.missing += 1;
      continue;
    }
    const compare = check.supports.get(n) ?? supportOf(passage);
    check.supports.set(n, compare);
    const results = claims.map(compare);
    const best = results.find((result) => result.holds) ?? results[0];
    const found = { n, passage, quote: best?.quote ?? passage.text };
    (best?.holds || !check.options.verify ? verdict.held : verdict.failed).push(found);
  }
  const { verification } = check;
  verification.claims += verdict.held.length + verdict.failed.length + verdict.missing;
  verification.supported += check.options.verify ? verdict.held.length : 0;
  verification.unsupported += verdict.failed.length + verdict.missing;
  return verdict;
}

function claimOf(text: string, { claims }: Check): Claim {
  const claim = claims.get(text) ?? readClaim(text);
  claims.set(text, claim);
  return claim;
}

function isDropped(
  { clusters }: CitedSentence,
  judged: readonly { verdict: Verdict }[],
  block: ReportBlock,
  { verify, mark }: CitationOptions,
): boolean {
  if (!verify || mark === 'mark' || block.kind === 'heading' || clusters.length === 0) return false;
  return judged.every(({ verdict }) => verdict.held.length === 0);
}

/** In drop mode a clause without support stays marked when its sentence holds another claim that has some. */
function render({ held, failed, missing }: Verdict, anyHeld: boolean, check: Check): string {
  const { verify, mark, numbers = true } = check.options;
  const marked = verify && (mark === 'mark' || (anyHeld && held.length === 0));
  const shown = [...held, ...(marked ? failed : [])].map((found) => ({ found, ok: held.includes(found) }));
  const parts = shown.map(({ found, ok }) => {
    const n = cite(found, ok && verify, check);
    if (!numbers) return ok ? '' : `[${UNSUPPORTED_MARK}]`;
    return ok ? `[${n}]` : `[${n}: ${UNSUPPORTED_MARK}]`;
  });
  if (marked && missing > 0) parts.push(MISSING_MARK);
  return parts.join('');
}

function cite({ n, passage, quote }: Found, checked: boolean, { cited }: Check): number {
  const known = cited.get(n) ?? { passage, quote, checked, n: cited.size + 1 };
  cited.set(n, known);
  if (checked && !known.checked) Object.assign(known, { quote, checked });
  return known.n;
}

/** No number in brackets is left that could be taken for a reference and is none. */
function withoutStray(report: string, count: number): string {
  return mapText(report, (piece) =>
    piece.replace(/\[(\d+)\]/g, (whole, digits: string) => {
      const n = Number(digits);
      return n >= 1 && n <= count ? whole : `(${digits})`;
    }),
  );
}
