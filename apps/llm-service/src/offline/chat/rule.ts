export interface WantedCall {
  name: string;
  args: Record<string, unknown>;
}

/** A tool that the sentence names without saying all that it needs. */
export interface Missing {
  tool: string;
  fields: string[];
}

/** How a sentence asks for one tool: where such a wish starts, and what the words up to the next wish say. */
export interface Rule {
  /** Global: every match is the start of one wish. */
  start: RegExp;
  /** @param said the words between this start and the next one */
  read(start: RegExpMatchArray, said: string): (WantedCall | Missing)[];
}
