import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { UsageError } from './exit-codes.ts';

/**
 * The text of a file, or of standard input where that is named `-`, however late it comes.
 * @throws {UsageError} where it is no UTF-8
 */
export async function fileOrInput(path: string): Promise<string> {
  const [bytes, where] =
    path === '-' ? [await buffer(process.stdin), 'standard input'] : [await readFile(path), path];
  return textOf(bytes, () => new UsageError(`${where} is not UTF-8 text`));
}

/** A text from the words of the command line; `-` alone stands for standard input. */
export async function wordsOrInput(words: string[]): Promise<string> {
  return words.length === 1 && words[0] === '-' ? fileOrInput('-') : words.join(' ');
}

/**
 * Text from its bytes, without a byte order mark.
 * @throws what `refusal` makes, where they are no UTF-8: characters would be lost in silence
 */
export function textOf(bytes: Uint8Array, refusal: () => Error): string {
  if (!isUtf8(bytes)) throw refusal();
  return new TextDecoder().decode(bytes);
}
