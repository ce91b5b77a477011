import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STRATEGIES, StrategyPresets } from '@plangate/contracts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { localSource, openCorpus } from '../src/corpus/index.ts';
import { numberPassages, planToQuestions, researchQuestion } from '../src/index.ts';

const root = join(import.meta.dirname, '../../..');

test.each([
  [
    'numbered',
    'I will look at:\n1. Redis locks\n   - backoff\n2. Queues\n\nLeft out:\n- Pricing',
    ['Redis locks', 'Queues'],
  ],
  ['bullets', '* **Redis** locks\n* Not covered: pricing\n* Queues', ['Redis locks', 'Queues']],
  [
    'headings',
    '# Plan\n## Locks\nHow locks work.\n## Queues\nHow queues work.\n## Out of scope\nPricing.',
    ['Locks', 'Queues'],
  ],
  [
    'sentences',
    'Compare the locks. Measure the queues. Pricing is excluded.',
    ['Compare the locks.', 'Measure the queues.'],
  ],
  [
    'Japanese',
    '調査：\n一、再接続の方法\n二、ロックの扱い\n対象外：\n・価格',
    ['再接続の方法', 'ロックの扱い'],
  ],
  ['Chinese', '研究重连策略。比较锁的实现。不包括价格。', ['研究重连策略。', '比较锁的实现。']],
  [
    'Indonesian',
    '- Strategi koneksi\n- Penguncian\n\nTidak termasuk:\n- harga',
    ['Strategi koneksi', 'Penguncian'],
  ],
  ['nothing', '```\ncode\n```\n\n---', []],
])('questions come from a plan without what it leaves out: %s', (_, plan, texts) => {
  expect(planToQuestions(plan, { maxQuestions: 9 }).map(({ text }) => text)).toEqual(texts);
});

test('there are no more questions than asked for, each once, and the same plan gives the same ones', () => {
  const plan = '1. a lock\n2. a lock\n3. queues\n4. streams';
  const questions = planToQuestions(plan, { maxQuestions: 2 });
  expect(questions.map(({ id, text }) => [id, text])).toEqual([
    ['q1', 'a lock'],
    ['q2', 'queues'],
  ]);
  expect(planToQuestions(plan, { maxQuestions: 2 })).toEqual(questions);
});

test('each strategy asks more questions and reads more passages than the one before it', async () => {
  const presets = await readPresets();
  const source = localSource(
    await openCorpus({ root, folders: [{ path: 'node_modules', include: 'README*' }] }),
  );
  const topics =
    'redis reconnect|promise concurrency|json schema validation|html escaping|stream events|glob matching|yaml parsing|http cookies|file watching|source maps';
  const plan = topics
    .split('|')
    .map((topic) => `- ${topic}`)
    .join('\n');
  const work = [];
  for (const name of STRATEGIES) {
    const strategy = presets[name];
    const questions = planToQuestions(plan, { maxQuestions: strategy.max_questions });
    const findings = [];
    for (const question of questions) findings.push(await researchQuestion(question, source, strategy));
    for (const { passages, searches } of findings) {
      expect(passages.length).toBeLessThanOrEqual(strategy.passages_per_question);
      expect(searches).toBeLessThanOrEqual(strategy.max_iterations);
    }
    work.push({ questions: questions.length, passages: numberPassages(findings).byN.size });
  }
  expect(work.map(({ questions }) => questions)).toEqual([3, 5, 8, 10]);
  for (const [index, { passages }] of work.slice(1).entries())
    expect(passages).toBeGreaterThan(work[index]?.passages ?? 0);
});

test('a search widens round by round while too little is found, and stops when enough is', async () => {
  const asked: string[] = [];
  const source = {
    name: 'none',
    search: async ({ text }: { text: string }) => (asked.push(text) > 0 ? [] : []),
  };
  const question = { id: 'q1', text: 'How do locks expire', terms: ['lock', 'expiry'] };
  const finding = await researchQuestion(question, source, { max_iterations: 3, passages_per_question: 2 });
  expect(asked).toEqual(['lock expiry', 'How do locks expire', 'expiry']);
  expect(finding).toEqual({ question, passages: [], searches: 3 });
});

test('a passage that shares one word of many with the question does not fit, unless its document is named by it', async () => {
  const passage = (title: string) => ({
    id: title,
    title,
    url: '',
    source: 'local',
    heading: 'Results',
    text: 'redis results',
    score: 1,
  });
  const source = { name: 'two', search: async () => [passage('tinybench'), passage('redis')] };
  const strategy = { max_iterations: 1, passages_per_question: 2 };
  const found = async (text: string) =>
    (await researchQuestion({ id: 'q1', text, terms: [] }, source, strategy)).passages.map(
      ({ title }) => title,
    );
  expect(await found('Quantum chromodynamics lattice results')).toEqual([]);
  expect(await found('Redisの再接続戦略')).toEqual(['redis']);
});

test('the name of a document alone does not make its passage fit a question about more', async () => {
  const passage = {
    id: 'a',
    title: 'redis',
    url: '',
    source: 'local',
    heading: 'Colours',
    text: 'redis',
    score: 1,
  };
  const source = { name: 'one', search: async () => [passage] };
  const strategy = { max_iterations: 1, passages_per_question: 2 };
  const found = async (text: string) =>
    (await researchQuestion({ id: 'q1', text, terms: [] }, source, strategy)).passages.length;
  expect(await found('How does redis reconnect after a failover?')).toBe(0);
  expect(await found('Overview of redis')).toBe(1);
});

test('a passage of two sections has one number', () => {
  const passage = (id: string) => ({ id, title: '', url: '', source: 'local', heading: '', text: id });
  const question = { id: 'q', text: 'q', terms: [] };
  const { sections, byN } = numberPassages([
    { question, passages: [passage('a'), passage('b')] },
    { question, passages: [passage('b'), passage('c')] },
  ]);
  expect(sections.map(({ passages }) => passages.map(({ n }) => n))).toEqual([
    [1, 2],
    [2, 3],
  ]);
  expect([...byN.keys()]).toEqual([1, 2, 3]);
});

async function readPresets() {
  return StrategyPresets.parse(parse(await readFile(join(root, 'config/research_strategies.yaml'), 'utf8')));
}
