import type { Agent } from '../src/agent.ts';

const refused = async (): Promise<never> => {
  throw new Error('the offline provider is not asked here');
};

/** Stands where the offline provider is, in suites about the others. */
export const noOffline: Agent = {
  plan: refused,
  decompose: refused,
  write: refused,
  answer: refused,
  chat: refused,
};
