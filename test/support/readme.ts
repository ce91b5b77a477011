import { readFileSync } from 'node:fs';

const README = new URL('../../README.md', import.meta.url);

/** A fenced block of the README. */
export interface FencedBlock {
  /** The language named after the fence; `''` where none is. */
  language: string;
  /** Its lines, as they stand between the fences. */
  text: string;
}

/**
 * The first fenced block under a heading of the README, so that a test runs what readers copy.
 * @param heading its text, such as `TypeScript SDK`, of whatever level
 * @param language the block's, such as `ts`; default: any
 * @throws {Error} where there is no such heading, or no such block before the next heading of its level or above
 */
export function readmeBlock(heading: string, language?: string, markdown = readReadme()): string {
  const found = readmeBlocks(heading, markdown).find(
    (block) => language === undefined || block.language === language,
  );
  if (found) return found.text;
  throw new Error(`there is no ${language ?? 'fenced'} block under "${heading}"`);
}

/** All fenced blocks under a heading, those under its subheadings too. */
export function readmeBlocks(heading: string, markdown = readReadme()): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let level = 0;
  let open: { fence: string; language: string; lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    if (open) {
      if (!isClosing(line, open.fence)) {
        open.lines.push(line);
        continue;
      }
      if (level > 0) blocks.push({ language: open.language, text: `${open.lines.join('\n')}\n` });
      open = undefined;
      continue;
    }
    const [, fence, language = ''] = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/.exec(line) ?? [];
    if (fence) {
      open = { fence, language, lines: [] };
      continue;
    }
    const [, marks, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (!marks) continue;
    if (level === 0) level = title === heading ? marks.length : 0;
    else if (marks.length <= level) return blocks;
  }
  if (level === 0) throw new Error(`there is no heading "${heading}"`);
  return blocks;
}

function isClosing(line: string, fence: string): boolean {
  const closing = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length;
}

function readReadme(): string {
  return readFileSync(README, 'utf8');
}
