import {
  cutToBytes,
  type Passage,
  type Question,
  type StrategyName,
  type WriteRequest,
} from '@plangate/contracts';
import { shortQuery } from './first-plan.ts';
import { keysOf } from './keys.ts';
import type { Phrases } from './phrases.ts';
import { bestSentences, fittingSentences, type Sentence } from './sentences.ts';

type Numbered = Passage & { n: number };
type Section = { question: Question; sentences: Sentence<Numbered>[] };

const PER_SECTION: Record<StrategyName, number> = { quick: 3, standard: 4, deep: 6, academic: 8 };
const PER_PASSAGE = 2;
const IN_SUMMARY = 3;
const LONGEST_HEADING_BYTES = 400;

/**
 * A report made of sentences of the passages, letter by letter, each with its `[n]`: a section per question, and on
 * top the best sentence of the first sections. A section without fitting sentences says that nothing was found.
 */
export function extractReport({ query, sections, strategy }: WriteRequest, phrases: Phrases): string {
  const context = keysOf(query);
  const used = new Set<string>();
  const filled = sections.map(({ question, passages }): Section => {
    const keys = keysOf(question.text);
    const fitting = fittingSentences(
      passages,
      keys.length > 0 ? keys : question.terms.flatMap(keysOf),
      context,
    );
    const fresh = fitting.filter(({ text }) => !used.has(text));
    const sentences = bestSentences(fresh, PER_SECTION[strategy], PER_PASSAGE);
    for (const { text } of sentences) used.add(text);
    return { question, sentences };
  });
  return [
    `# ${headingText(shortQuery(query))}`,
    ...summary(filled, phrases),
    ...filled.map((section) => sectionText(section, phrases)),
    `*${phrases.reportNote}*`,
  ].join('\n\n');
}

function summary(sections: readonly Section[], phrases: Phrases): string[] {
  const best = sections.flatMap(({ sentences }) => sentences.slice(0, 1));
  if (best.length === 0) return [phrases.reportNothing];
  if (sections.length < 2) return [];
  return [
    `## ${phrases.summary}`,
    best
      .slice(0, IN_SUMMARY)
      .map((sentence) => `- ${cite(sentence)}`)
      .join('\n'),
  ];
}

function sectionText({ question, sentences }: Section, phrases: Phrases): string {
  const heading = `## ${headingText(question.text)}`;
  if (sentences.length === 0) return `${heading}\n\n${phrases.sectionNothing}`;
  const byDocument = Map.groupBy(sentences, ({ passage }) => passage.title);
  const groups = Array.from(byDocument, ([title, found]) => {
    const ordered = found.toSorted((a, b) => a.passage.n - b.passage.n || a.at - b.at);
    return [`**${title}**`, '', ...ordered.map((sentence) => `- ${cite(sentence)}`)].join('\n');
  });
  return [heading, ...groups].join('\n\n');
}

/** One line, in which nothing looks like a reference. */
function headingText(text: string): string {
  return cutToBytes(
    text
      .replace(/\s+/g, ' ')
      .replace(/\[(\d[^\]]*)\]/g, '($1)')
      .trim(),
    LONGEST_HEADING_BYTES,
  );
}

/** The sentence with its reference before the final mark, so that both are one sentence for whoever checks it. */
export function cite({ text, passage }: Sentence<Numbered>): string {
  const [, body = text, mark = ''] = /^(.*?)([.!。！]?)$/su.exec(text) ?? [];
  return `${body} [${passage.n}]${mark}`;
}
