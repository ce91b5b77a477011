import { text } from 'node:stream/consumers';

/** All of standard input as text, however late it comes. */
export function standardInput(): Promise<string> {
  return text(process.stdin);
}

/** A text from the words of the command line; `-` alone stands for standard input. */
export async function wordsOrInput(words: string[]): Promise<string> {
  return words.length === 1 && words[0] === '-' ? standardInput() : words.join(' ');
}
