import type { Passage, Question } from '@plangate/contracts';

export type NumberedPassage = Passage & { n: number };
export type NumberedSection = { question: Question; passages: NumberedPassage[] };

/** Numbers the passages of all sections from 1 in reading order; a passage that stands in two has one number. */
export function numberPassages(sections: readonly { question: Question; passages: readonly Passage[] }[]): {
  sections: NumberedSection[];
  byN: Map<number, Passage>;
} {
  const numbers = new Map<string, number>();
  const byN = new Map<number, Passage>();
  const numbered = sections.map(({ question, passages }) => ({
    question,
    passages: passages.map((passage) => {
      const n = numbers.get(passage.id) ?? numbers.size + 1;
      numbers.set(passage.id, n);
      byN.set(n, passage);
      return { ...passage, n };
    }),
  }));
  return { sections: numbered, byN };
}
