import { describe, expect, test } from 'vitest';
import { readQuestions } from '../src/decompose.ts';
import { jsonValues } from '../src/json-text.ts';
import { cpuMilliseconds } from './cpu-time.ts';

const A = '{"questions":[{"text":"a","terms":["x"]}]}';
const a = { questions: [{ text: 'a', terms: ['x'] }] };
const inString = { questions: [{ text: 'use ```json\n{"b":1}\n``` and }', terms: [] }] };

describe('P25 P26 the one extractor of JSON', () => {
  test.each<[string, string, unknown[]]>([
    ['plain', A, [a]],
    ['prose before and after', `Here you are:\n${A}\nHope that helps [1] {really}.`, [a]],
    ['a json fence', `\`\`\`json\n${A}\n\`\`\``, [a]],
    ['a js fence', `\`\`\`js\n${A}\n\`\`\``, [a]],
    ['tildes', `~~~\n${A}\n~~~`, [a]],
    ['nested fences', `\`\`\`\`\n\`\`\`json\n${A}\n\`\`\`\n\`\`\`\``, [a]],
    ['an unclosed fence', `\`\`\`json\n${A}`, [a]],
    [
      'a closed fence around JSON that was cut',
      '```json\n{"questions":[{"text":"a","terms":["x"]}\n```',
      [a],
    ],
    ['two objects in a row', `${A}\n${A}`, [a, a]],
    ['two objects without anything between', `${A}${A}`, [a, a]],
    ['a fence inside a string', JSON.stringify(inString), [inString]],
    ['a fence inside a string, in a fence', `\`\`\`json\n${JSON.stringify(inString)}\n\`\`\``, [inString]],
    ['a bare array', '["a","b"]', [['a', 'b']]],
    ['trailing commas', '{"questions":[{"text":"a","terms":["x",],},],}', [a]],
    ['single quotes', "{'questions':[{'text':'a','terms':['x']}]}", [a]],
    ['keys without quotes', '{questions:[{text:"a",terms:["x"]}]}', [a]],
    ['comments', '{"questions":[{"text":"a", /* why */ "terms":["x"]}]} // end', [a]],
    ['a line break inside a string', '{"questions":[{"text":"a\nb"}]}', [{ questions: [{ text: 'a\nb' }] }]],
    ['nothing', 'I cannot do that.', []],
    ['citations and templates only', 'See [1], [2] and {name}.', []],
    ['empty', '', []],
  ])('%s', (_name, text, values) => {
    expect(jsonValues(text)).toEqual(values);
  });

  test.each(['{"a'.repeat(10_000), '[['.repeat(16_000)])(
    'many brackets that start nothing cost little (%#)',
    async (text) => {
      expect(await cpuMilliseconds(() => jsonValues(text))).toBeLessThan(5_000);
    },
  );
});

describe('questions of an answer', () => {
  test.each<[string, string, string[]]>([
    ['several objects in a row', '{"text":"a"}\n{"text":"b","terms":["t"]}', ['a', 'b']],
    ['a bare list of texts', '["a","b"]', ['a', 'b']],
    ['the field question', '{"questions":[{"question":"a"}]}', ['a']],
    ['the same twice', '{"questions":["a","a"]}', ['a']],
    ['more than asked for', '["a","b","c","d"]', ['a', 'b', 'c']],
    ['blank and wrong ones', '{"questions":[" ",{"text":5},{"text":"a","terms":"x"}]}', ['a']],
  ])('%s', (_name, text, questions) => {
    const found = readQuestions(text, 3);
    expect(found.map((question) => question.text)).toEqual(questions);
    expect(found.map(({ id }) => id)).toEqual(questions.map((_question, index) => `q${index + 1}`));
  });
});
