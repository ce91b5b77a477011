import { expect, test } from 'vitest';
import { readmeBlock, readmeBlocks } from './support/readme.ts';

const MARKDOWN = [
  '# Title',
  '## First',
  '```bash',
  '# not a heading',
  '```',
  '### Below first',
  '````md',
  '```ts',
  '````',
  '## Second',
  '```ts',
  'const two = 2;',
  '```',
].join('\n');

test('a block belongs to the heading above it, whatever stands in it', () => {
  expect(readmeBlock('First', undefined, MARKDOWN)).toBe('# not a heading\n');
  expect(readmeBlocks('First', MARKDOWN).map(({ language }) => language)).toEqual(['bash', 'md']);
  expect(readmeBlock('Below first', 'md', MARKDOWN)).toBe('```ts\n');
  expect(readmeBlock('Second', 'ts', MARKDOWN)).toBe('const two = 2;\n');
});

test('a heading or a block that is missing is named', () => {
  expect(() => readmeBlock('Third', 'ts', MARKDOWN)).toThrow('there is no heading "Third"');
  expect(() => readmeBlock('Second', 'python', MARKDOWN)).toThrow('no python block under "Second"');
});

test('the README of the project is read where no text is given', () => {
  expect(readmeBlock('Two commands', 'bash')).toContain('npm start');
});
