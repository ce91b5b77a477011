import type { PlanDiff } from '@plangate/sdk';
import { type Output, plain } from './output.ts';

/**
 * What changed between two versions of a plan, word by word: struck out and underlined in colour on a terminal, in
 * `[-brackets-]` and `{+braces+}` elsewhere.
 */
export function diffText({ from, to, changes }: PlanDiff, { style }: Output): string {
  const head = style('dim', `Version ${from} to ${to}:`);
  if (changes.every(({ op }) => op === 'equal')) return `${head}\nThe same text.`;
  const inColour = style('red', 'x') !== 'x';
  const body = changes.map(({ op, text }) => {
    const words = plain(text);
    if (op === 'equal') return words;
    if (op === 'delete') return inColour ? style(['red', 'strikethrough'], words) : `[-${words}-]`;
    return inColour ? style(['green', 'underline'], words) : `{+${words}+}`;
  });
  return `${head}\n${body.join('')}`;
}
