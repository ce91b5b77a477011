import type { Passage, Question } from '@plangate/contracts';

/** A passage with how well it fits a search; scores compare within one result list only. */
export type ScoredPassage = Passage & { score: number };

/** What a search looks for: the text in its own words, and the words to weigh more. */
export type SearchQuestion = Pick<Question, 'text' | 'terms'>;

export type SourceSearchOptions = {
  /** Most passages returned. */
  limit: number;
  signal?: AbortSignal;
};

/** A place that holds passages: local documents now, other kinds behind the same face. */
export type Source = {
  /** Kind of source, as `Passage.source` names it. */
  readonly name: string;
  /** Passages that fit, best first; `[]` where nothing does. */
  search(question: SearchQuestion, options: SourceSearchOptions): Promise<ScoredPassage[]>;
};
