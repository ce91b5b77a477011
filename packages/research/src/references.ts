import { codeSpans } from './markdown.ts';
import { type Span, sentences } from './sentences.ts';

/** References that stand together, such as `[1][2]` or `[1–3]`. */
export type Cluster = Span & {
  /** Numbers cited, each once, in order. */
  numbers: number[];
  /** How many references of the cluster are no usable number or span. */
  unusable: number;
  /** What the cluster is there for: its clause, and the sentence that it stands in. */
  claims: string[];
};

/** A sentence with the references in it. */
export type CitedSentence = Span & { clusters: Cluster[] };

const REFERENCE =
  /(?<!\[)\[+\s*(\^?\d+(?:\s*[,;、，‐–—-]\s*\^?\d+)*)\s*\]+(?:\([^()\n]*\))?|【\s*(\d+)[^【】\n]*】/g;
const PARTS = /(\d+)(?:\s*[‐–—-]\s*\^?(\d+))?/g;
const BETWEEN = /^[\s,;、，]*$/;
const WIDEST_SPAN = 20;
const SHORTEST_CLAUSE_WORDS = 3;

/** The sentences of one paragraph, list item or table row that cite something. References in code are text. */
export function citedSentences(block: string): CitedSentence[] {
  if (!/[[【]\s*[[^\d]/.test(block)) return [];
  const clusters = findClusters(block);
  if (clusters.length === 0) return [];
  const bare = blank(block, clusters);
  const cited: CitedSentence[] = [];
  const all = sentences(bare);
  let at = 0;
  for (const cluster of clusters) {
    while (at < all.length - 1 && cluster.start >= (all[at]?.end ?? 0)) at += 1;
    const sentence = all[at] ?? { start: 0, end: block.length };
    if (cited.at(-1)?.start !== sentence.start) cited.push({ ...sentence, clusters: [] });
    cited.at(-1)?.clusters.push(cluster);
  }
  for (const sentence of cited) nameClaims(sentence, bare);
  return cited;
}

function findClusters(block: string): Cluster[] {
  const masked = maskCode(block);
  const clusters: Cluster[] = [];
  for (const match of masked.matchAll(REFERENCE)) {
    const read = readNumbers(match[1] ?? match[2] ?? '');
    if (!read) continue;
    const start = match.index;
    const end = start + match[0].length;
    const open = clusters.at(-1);
    if (open && BETWEEN.test(block.slice(open.end, start))) {
      open.end = end;
      open.numbers = [...new Set([...open.numbers, ...read.numbers])];
      open.unusable += read.unusable;
    } else clusters.push({ start, end, ...read, claims: [] });
  }
  return clusters;
}

/** Undefined for what is no reference, such as the class `[0-9]`. */
function readNumbers(text: string): { numbers: number[]; unusable: number } | undefined {
  const numbers = new Set<number>();
  let unusable = 0;
  for (const [whole, first, last] of text.matchAll(PARTS)) {
    const from = Number(first);
    const to = Number(last ?? first);
    if (from === 0 && whole !== text.trim()) return undefined;
    if (to < from || to - from > WIDEST_SPAN || !Number.isSafeInteger(to)) unusable += 1;
    else for (let n = from; n <= to; n += 1) numbers.add(n);
  }
  return { numbers: [...numbers], unusable };
}

/** Claims of a sentence: with several clusters the clause before each (the last one's to the end), else the whole. */
function nameClaims(sentence: CitedSentence, bare: string): void {
  const whole = bare.slice(sentence.start, sentence.end);
  const { clusters } = sentence;
  for (const [index, cluster] of clusters.entries()) {
    if (clusters.length === 1) {
      cluster.claims = [whole];
      continue;
    }
    const from = clusters[index - 1]?.end ?? sentence.start;
    const to = index === clusters.length - 1 ? sentence.end : cluster.start;
    const clause = bare.slice(from, to);
    const long =
      (clause.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= SHORTEST_CLAUSE_WORDS ||
      /\p{Script=Han}/u.test(clause);
    cluster.claims = long ? [clause, whole] : [whole];
  }
}

function blank(block: string, spans: readonly Span[]): string {
  let result = '';
  let end = 0;
  for (const span of spans) {
    result += block.slice(end, span.start) + ' '.repeat(span.end - span.start);
    end = span.end;
  }
  return (result + block.slice(end)).replace(/&(?:lt|gt|amp);/g, (entity) => ' '.repeat(entity.length));
}

function maskCode(block: string): string {
  if (!block.includes('`')) return block;
  return block
    .split('\n')
    .map((line) => {
      let masked = '';
      let at = 0;
      for (const { start, end } of codeSpans(line)) {
        masked += line.slice(at, start) + '`'.repeat(end - start);
        at = end;
      }
      return masked + line.slice(at);
    })
    .join('\n');
}
