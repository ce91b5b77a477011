/** What one answer may cost at most. */
export interface Budget {
  /** Events that are read for it. */
  events: number;
  /** Characters of text that it holds. */
  characters: number;
}

/** Notes what was read; throws once that is more than the budget. */
export type Spend = (spent: Partial<Budget>) => void;

/**
 * Keeps an answer that is put together from many parts from holding, or reading, more than its budget, however much
 * there is. Asked after each part, so that one part at a time may be above it.
 * @param refusal what is thrown then
 */
export function answerBudget(most: Budget, refusal: () => Error): Spend {
  const left = { ...most };
  return ({ events = 0, characters = 0 }) => {
    left.events -= events;
    left.characters -= characters;
    if (left.events < 0 || left.characters < 0) throw refusal();
  };
}
