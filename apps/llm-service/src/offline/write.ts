import {
  cutToBytes,
  type Passage,
  type Question,
  type StrategyName,
  type WriteRequest,
} from '@plangate/contracts';
import { nameOf, namesOf } from '@plangate/research/corpus';
import { shortQuery } from './first-plan.ts';
import { keysOf } from './keys.ts';
import { areaOf, type Phrases } from './phrases.ts';
import { itemsOf, readPlan } from './plan-lines.ts';
import { bestSentences, fittingSentences, isIntroduction, type Sentence } from './sentences.ts';

type Numbered = Passage & { n: number };
type Section = { question: Question; sentences: Sentence<Numbered>[]; silent: string[]; fitting: number };

const PER_SECTION: Record<StrategyName, number> = { quick: 3, standard: 5, deep: 6, academic: 8 };
const PER_PASSAGE = 3;
const ENOUGH_NAMED = 2;
const IN_SUMMARY = 4;
const LONGEST_HEADING_BYTES = 400;

/**
 * A report made of sentences of the passages, letter by letter, each with its `[n]`: a section per question, and on
 * top the best sentence of the first sections. No sentence stands in two sections. A section without fitting
 * sentences says that nothing was found, and names the documents that the plan looked for in vain.
 */
export function extractReport({ query, plan, sections, strategy }: WriteRequest, phrases: Phrases): string {
  const context = keysOf(query);
  const silent = silentIn(plan);
  const said: string[] = [];
  const filled = sections.map(({ question, passages }): Section => {
    const own = keysOf(question.text);
    const keys = own.length > 0 ? own : question.terms.flatMap(keysOf);
    const fitting = preferNamed(fittingSentences(passages, keys, context), question.terms);
    const sentences = bestSentences(fitting, PER_SECTION[strategy], PER_PASSAGE, said);
    said.push(...sentences.map(({ text }) => text));
    return { question, sentences, silent: silent.get(question.text) ?? [], fitting: fitting.length };
  });
  return [
    `# ${headingText(shortQuery(query))}`,
    ...summary(filled, phrases),
    ...filled.map((section) => sectionText(section, phrases)),
    `*${phrases.reportNote}*`,
  ].join('\n\n');
}

/** Only the documents that the question names as its sources, where they say enough. */
function preferNamed(sentences: Sentence<Numbered>[], terms: readonly string[]): Sentence<Numbered>[] {
  const wanted = new Set(terms.map((term) => term.toLowerCase()));
  const named = sentences.filter(({ passage }) => namesOf(passage).some((name) => wanted.has(name)));
  return named.length >= ENOUGH_NAMED ? named : sentences;
}

/** The documents that an area of the plan says to be silent, by the area's name. */
function silentIn(plan: string): ReadonlyMap<string, string[]> {
  return new Map(
    itemsOf(readPlan(plan)).map(({ text }) => {
      const { head, silent } = areaOf(text);
      return [head, silent];
    }),
  );
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

function sectionText({ question, sentences, silent, fitting }: Section, phrases: Phrases): string {
  const heading = `## ${headingText(question.text)}`;
  if (sentences.length === 0)
    return `${heading}\n\n${fitting > 0 ? phrases.sectionAbove : phrases.sectionNothing}`;
  const byDocument = Map.groupBy(sentences, ({ passage }) => nameOf(passage));
  const groups = Array.from(byDocument, ([name, found]) => {
    const ordered = found.toSorted(
      (a, b) =>
        Number(isIntroduction(b.text)) - Number(isIntroduction(a.text)) ||
        a.passage.n - b.passage.n ||
        a.at - b.at,
    );
    return [`**${name}**`, '', ...ordered.map((sentence) => `- ${cite(sentence)}`)].join('\n');
  });
  const remark = silent.length > 0 ? [phrases.sectionSilent(headingText(silent.join(', ')))] : [];
  return [heading, ...groups, ...remark].join('\n\n');
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
