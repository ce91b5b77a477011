import { PlanAnswer } from '@plangate/contracts';
import { type Corpus, openCorpus } from '@plangate/research/corpus';
import { beforeAll, describe, expect, test } from 'vitest';
import { offlineAgent } from '../src/offline/agent.ts';
import { changesIn } from '../src/offline/changes.ts';
import { languageOf } from '../src/offline/language.ts';
import { FIRST_PLAN } from './app.ts';
import { cpuMilliseconds } from './cpu-time.ts';

const root = new URL('./fixtures/', import.meta.url).pathname;
const EN = 'How do these libraries handle retries, locks and time-outs?';
const JA = 'これらのライブラリはリトライとロックをどう扱いますか';
let corpus: Corpus;
const agent = offlineAgent(async () => corpus);

beforeAll(async () => {
  corpus = await openCorpus({ root, folders: [{ path: 'documents', include: '*.md' }] });
});

const first = (query: string) => agent.plan({ ...FIRST_PLAN, query });
const after = (query: string, current_plan: string, feedback: string, round = 1) =>
  agent.plan({
    ...FIRST_PLAN,
    query,
    current_plan,
    conversation: [
      { role: 'assistant', message: current_plan || '?', timestamp: '2026-01-01T00:00:00Z' },
      { role: 'user', message: feedback, timestamp: '2026-01-01T00:01:00Z' },
    ],
    current_round: round,
  });
const areas = (plan: string) => plan.split('\n').filter((line) => /^\d+\. /.test(line));

describe('the first plan', () => {
  test('lists the areas that the documents cover, with the documents, and is a plan', async () => {
    const answer = await first(EN);
    expect(PlanAnswer.parse(answer)).toMatchObject({
      intent: 'ready',
      provider: 'offline',
      model: 'offline-extractive',
      round: 0,
    });
    expect(answer.plan).toBe(answer.message);
    expect(areas(answer.message)[0]).toMatch(/^1\. \*\*Retries\*\* — sources: .*Harbour/);
    expect(areas(answer.message)[1]).toMatch(/^2\. \*\*Locks\*\* — sources: Harbour/);
    expect(areas(answer.message)[2]).toMatch(/^3\. \*\*Time-outs\*\* — sources: Ferry/);
  });

  test('is the same for the same request', async () => {
    expect(await first(EN)).toEqual(await first(EN));
  });

  test('says which subjects of the query no document covers', async () => {
    const { message } = await first('How do they handle locks and holography?');
    expect(message).toContain('Not in the documents:** holography');
  });

  test('asks where no document fits, and makes a plan of the answer, which it never asks for again', async () => {
    const query = 'What are the economics of banana farming in Ecuador?';
    const asked = await first(query);
    expect(asked).toMatchObject({ intent: 'feedback', plan: null });
    for (const feedback of ['Focus on exports and locks', 'whatever you think', 'ok']) {
      const answer = await after(query, '', feedback);
      expect(answer.intent).toBe('ready');
      expect(areas(answer.message).length).toBeGreaterThan(0);
      expect(answer.message).toContain('nothing about it in the local documents');
    }
  });

  test('is a plan in a final round whatever the documents hold', async () => {
    const answer = await agent.plan({ ...FIRST_PLAN, query: 'Bananas?', is_final_round: true });
    expect(answer.intent).toBe('ready');
    expect(areas(answer.message)).toHaveLength(1);
  });

  test.each([
    ['en', EN, 'Research plan'],
    ['ja', JA, '調査計画'],
    ['zh', '这些库如何处理重试和锁？', '研究计划'],
    ['id', 'Bagaimana pustaka ini menangani retry dan lock?', 'Rencana riset'],
  ])('is in the language of the query: %s', async (language, query, title) => {
    expect(languageOf(query)).toBe(language);
    const { message, intent } = await first(query);
    expect(intent).toBe('ready');
    expect(message).toContain(title);
    expect(message).toContain('Harbour');
  });

  test('stays under 300 words', async () => {
    const { message } = await first(`${EN} ${'locks, retries, pricing and queues of jobs. '.repeat(200)}`);
    expect(message.split(/\s+/).length).toBeLessThan(300);
  });
});

describe('a revision', () => {
  test.each([
    [EN, 'Add price comparison', 'price comparison'],
    [EN, 'Add an economics section', 'Economics'],
    [EN, 'knowledge graphs', 'knowledge graphs'],
    [EN, 'tambahkan perbandingan harga', 'perbandingan harga'],
    [JA, '価格比較を追加してください', '価格比較'],
    [EN, '请加入价格比较', '价格比较'],
  ])('%s + %s adds an area', async (query, feedback, title) => {
    const { message } = await first(query);
    const revised = await after(query, message, feedback);
    expect(revised.intent).toBe('ready');
    expect(areas(revised.message)).toHaveLength(areas(message).length + 1);
    expect(areas(revised.message).at(-1)!.toLowerCase()).toContain(title.toLowerCase());
    expect(areas(revised.message).slice(0, -1)).toEqual(areas(message));
  });

  test.each([
    'drop the locks section',
    'Please remove locks.',
    'ロックは不要です',
    '不要写锁',
    'hapus bagian lock',
    'drop 2',
  ])('%s drops the area and numbers the rest anew', async (feedback) => {
    const { message } = await first(EN);
    const plan = message.replace('**Locks**', '**Locks ロック 锁 lock**');
    const revised = await after(EN, plan, feedback);
    expect(areas(revised.message).map((line) => line.slice(0, 8))).toEqual(['1. **Ret', '2. **Tim']);
    expect(revised.message).toMatch(/Left out:\*\* .*; /);
  });

  test('focus puts an area first and keeps the others', async () => {
    const { message } = await first(EN);
    const revised = await after(EN, message, 'Please focus on time-outs');
    expect(areas(revised.message)[0]).toContain('1. **Time-outs**');
    expect(areas(revised.message)).toHaveLength(3);
    expect(revised.message).toContain('**Focus:** time-outs');
  });

  test('only leaves the others out', async () => {
    const { message } = await first(EN);
    const revised = await after(EN, message, 'only retries and locks');
    expect(areas(revised.message)).toHaveLength(2);
    expect(revised.message).toMatch(/Left out:\*\* .*Time-outs/);
  });

  test('several changes of one message are all made', async () => {
    const { message } = await first(JA);
    const revised = await after(JA, message, 'オープンソースに絞って、価格比較を追加してください');
    expect(revised.message).toContain('**重点:** オープンソース');
    expect(areas(revised.message).at(-1)).toContain('価格比較');
  });

  test('the language of the query holds when the feedback is in another', async () => {
    const { message } = await first(JA);
    const revised = await after(JA, message, 'Add a section on pricing and drop locks');
    expect(revised.message).toContain('調査計画');
    expect(revised.message).toContain('**変更点:**');
    expect(revised.message).toMatch(/\*\*Pricing\*\* — 資料: Ferry/);
    expect(revised.message).not.toMatch(/Changes|sources:/);
  });

  test('a note on changes is replaced by the next one', async () => {
    const { message } = await first(EN);
    const one = await after(EN, message, 'add queues');
    const two = await after(EN, one.message, 'add jobs');
    expect(two.message.match(/\*\*Changes:\*\*/g)).toHaveLength(1);
    expect(two.message).toContain('added "jobs"');
  });

  test.each([
    ['bullets', '# My plan\n\n- Locks, but only mine\n- Retries\n\nThat is all.', '- **Queues**'],
    ['numbers with details', 'Intro\n\n1) Locks\n   - who holds them\n2) Retries\n\nOutro', '3) **Queues**'],
    ['sentences', 'Look at locks. Then look at retries.', '**Queues**'],
  ])('a plan that a person edited keeps its own words: %s', async (_name, plan, added) => {
    const revised = await after(EN, plan, 'add queues');
    const words = plan.split(/\n+|(?<=\.) /);
    for (const line of words) expect(revised.message).toContain(line);
    expect(revised.message).toContain(added);
  });

  test.each([
    'I do not like it',
    'Hmm, this is too long.',
    '好きではないです',
    '太长了',
    'looks good, approved',
    '承認します',
    'setuju',
    '同意',
  ])('%s changes nothing, approves nothing, and asks', async (feedback) => {
    const { message } = await first(EN);
    expect(await after(EN, message, feedback)).toMatchObject({ intent: 'feedback', plan: null });
    expect(await after(EN, message, feedback, 10)).toMatchObject({ intent: 'ready', plan: message });
  });

  test.each([
    ['Japanese', 'あ漢字カナ', ''],
    ['Chinese', '漢字不是', ''],
    ['Latin', 'and word ', ' '],
    ['white space', 'a          ', ' '],
    ['marks', '- `*[({# ', ' '],
  ])('the longest feedback on the longest plan costs little: %s', async (_name, piece, gap) => {
    const feedback = piece.repeat(Math.floor(10_000 / Buffer.byteLength(piece)));
    const plan = `1. ${piece.repeat(Math.floor(30_000 / Buffer.byteLength(piece)))}${gap}`;
    const cost = await cpuMilliseconds(async () => {
      await after(EN, plan, feedback);
      await after(EN, plan, `add locks. ${feedback}`).catch(() => undefined);
    });
    expect(cost).toBeLessThan(5_000);
  });

  test('a plan never loses its last area', async () => {
    expect(await after(EN, '1. Locks', 'drop locks')).toMatchObject({ intent: 'feedback', plan: null });
  });
});

describe('what a message asks to change', () => {
  test.each<[string, ...[string, string][]]>([
    ['Add an economics section', ['add', 'economics']],
    ['Please add a section about how to remove locks', ['add', 'how to remove locks']],
    ['Drop pricing and add knowledge graphs, please', ['drop', 'pricing'], ['add', 'knowledge graphs']],
    ["don't cover licences; focus more on locks", ['drop', 'licences'], ['focus', 'locks']],
    ["Don't drop the locks", ['keep', 'locks']],
    ['Keep retries but remove locks', ['keep', 'retries'], ['drop', 'locks']],
    ['Compare prices without taxes', ['add', 'Compare prices'], ['drop', 'taxes']],
    ['Replace locks with leases', ['drop', 'locks'], ['add', 'leases']],
    ['I do not like it'],
    ['オープンソースに絞って、価格比較を追加してください', ['only', 'オープンソース'], ['add', '価格比較']],
    [
      'オープンソースフレームワークにより注力し、価格比較を含めてください',
      ['focus', 'オープンソースフレームワーク'],
      ['add', '価格比較'],
    ],
    [
      'Cursor、GitHub Copilot、Windsurfを含め、料金プランを比較してください。',
      ['add', 'Cursor、GitHub Copilot、Windsurf'],
      ['add', '料金プランの比較'],
    ],
    ['LangGraphとCrewAIの比較に焦点を当ててください', ['focus', 'LangGraphとCrewAIの比較']],
    ['経済の部分は書かないでください', ['drop', '経済']],
    ['歴史は削除しないで、価格は除外してください', ['keep', '歴史'], ['drop', '価格']],
    ['请加入价格比较，不要写经济部分', ['add', '价格比较'], ['drop', '经济']],
    ['把历史部分删掉，重点放在性能上', ['drop', '历史'], ['focus', '性能']],
    ['不要删除锁', ['keep', '锁']],
    ['tambahkan perbandingan harga', ['add', 'perbandingan harga']],
    ['Tolong hapus bagian ekonomi dan fokus pada lock', ['drop', 'ekonomi'], ['focus', 'lock']],
    ['jangan bahas harga', ['drop', 'harga']],
    ['redlock only', ['only', 'redlock']],
    ['Use redlock only, nothing else.', ['only', 'redlock']],
    ['Just redlock, please', ['only', 'redlock']],
    ['nothing but redlock', ['only', 'redlock']],
    ['Focus on redlock only and drop prices', ['only', 'redlock'], ['drop', 'prices']],
    ['redlock only, and drop prices', ['only', 'redlock'], ['drop', 'prices']],
    ['Cover only redlock', ['only', 'redlock']],
    ['Keep only redlock', ['only', 'redlock']],
    ['Add only a short section on costs', ['add', 'costs']],
    ['Just one thing: drop prices', ['drop', 'prices']],
    ['I only like the locks'],
    ['redlock saja', ['only', 'redlock']],
    ['redlockだけで', ['only', 'redlock']],
    ['redlock就好', ['only', 'redlock']],
    ['仅redlock', ['only', 'redlock']],
    ['without ioredis', ['drop', 'ioredis']],
    ['exclude ioredis from the sources', ['drop', 'ioredis']],
  ])('%s', (message, ...changes) => {
    expect(changesIn(message).map(({ kind, what }) => [kind, what])).toEqual(changes);
  });
});

describe('questions of a plan', () => {
  const decompose = async (plan: string, max_questions = 5) =>
    (await agent.decompose({ query: EN, context: {}, plan, max_questions })).questions;

  test('its own plan gives one question per area, without its remarks', async () => {
    const questions = await decompose((await first(EN)).message);
    expect(questions.map(({ text }) => text)).toEqual(['Retries', 'Locks', 'Time-outs']);
    expect(questions[2]!.terms).toContain('timeout');
  });

  test('where there are more areas than questions, none is lost', async () => {
    const questions = await decompose('1. Apples\n2. Pears\n3. Plums\n4. Cherries\n5. Grapes', 2);
    expect(questions.map(({ text }) => text).join('; ')).toBe('Apples; Pears; Plums; Cherries; Grapes');
    expect(questions).toHaveLength(2);
  });

  test.each([
    ['bullets', '- Look at locks\n- Look at retries'],
    ['sentences', 'We look at locks first. Then we look at retries.'],
  ])('%s give questions', async (_name, plan) => {
    const questions = await decompose(plan);
    expect(questions.map(({ terms }) => terms.join(' '))).toEqual([
      expect.stringContaining('lock'),
      expect.stringContaining('retry'),
    ]);
  });

  test('an empty plan gives the query', async () => {
    expect((await decompose('')).map(({ text }) => text)).toEqual([EN]);
  });
});

describe('the report', () => {
  async function write(plan: string) {
    const { questions } = await agent.decompose({ query: EN, context: {}, plan, max_questions: 5 });
    let n = 0;
    const sections = questions.map((question) => ({
      question,
      passages: corpus
        .search(question.text, { limit: 4, terms: question.terms })
        .map((passage) => ({ ...passage, n: ++n })),
    }));
    const { report } = await agent.write({
      query: EN,
      context: {},
      plan,
      conversation: [],
      strategy: 'standard',
      sections,
    });
    return { report, passages: sections.flatMap((section) => section.passages) };
  }

  test('has a section per question, made of verbatim sentences with their passages', async () => {
    const { report, passages } = await write((await first(EN)).message);
    for (const heading of ['## Summary', '## Retries', '## Locks', '## Time-outs'])
      expect(report).toContain(heading);
    expect(report).toMatch(/Harbour retries a failed request three times before it gives up \[\d+\]\./);
    const cited = Array.from(report.matchAll(/^- (.*) \[(\d+)\](\.?)$/gm));
    expect(cited.length).toBeGreaterThan(4);
    for (const [, sentence, number, end] of cited) {
      const passage = passages.find(({ n }) => n === Number(number));
      expect(passage!.text.replace(/\s+/g, ' ')).toContain(`${sentence}${end}`);
    }
  });

  test('takes no badges, code, table rows or links for sentences', async () => {
    const { report } = await write((await first(EN)).message);
    expect(report).not.toMatch(/badge|new Harbour|lock retries|https?:|see the manual/);
  });

  test('takes no sentence that shares one word of several by chance', async () => {
    const { report } = await write('1. Failed elections\n2. Retry behaviour');
    expect(report).toContain('## Failed elections\n\nThe local documents say nothing about this.');
    expect(report).toContain('Harbour retries a failed request');
  });

  test('takes nothing of the query for a reference', async () => {
    const { report } = await agent.write({
      query: 'What of [7]?',
      context: {},
      plan: '',
      conversation: [],
      strategy: 'quick',
      sections: [{ question: { id: 'q1', text: 'Locks [8, 9]', terms: [] }, passages: [] }],
    });
    expect(report).not.toMatch(/\[\d/);
  });

  test('says so where the documents say nothing', async () => {
    const { report } = await write('1. Holography\n2. Locks');
    expect(report).toContain('## Holography\n\nThe local documents say nothing about this.');
    const { report: nothing } = await write('1. Holography');
    expect(nothing).toContain('say nothing about any area of the plan');
  });
});

describe('an answer without research', () => {
  test('quotes the documents and cites them', async () => {
    const { answer, citations } = await agent.answer({ query: 'When does a lock expire?', context: {} });
    expect(answer).toContain('A lock expires after thirty seconds unless its holder renews it [1].');
    expect(citations![0]).toMatchObject({ n: 1, title: 'Harbour', checked: true });
  });

  test('says honestly that it has no documents on it', async () => {
    const { answer, citations } = await agent.answer({ query: 'Who won the match?', context: {} });
    expect(answer).toContain('I have no documents on that');
    expect(citations).toEqual([]);
  });
});
