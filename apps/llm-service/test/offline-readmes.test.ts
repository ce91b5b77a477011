import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finishReport, numberPassages, researchQuestion } from '@plangate/research';
import { type Corpus, localSource, openCorpus } from '@plangate/research/corpus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { offlineAgent } from '../src/offline/agent.ts';
import { FIRST_PLAN } from './app.ts';

/** The real READMEs of what a production install holds: what the containers read by default. */
const root = mkdtempSync(join(tmpdir(), 'plangate-readmes-'));
const QUERY = 'How do these libraries handle retries, locks and time-outs?';
const FEEDBACK = 'Focus on ioredis, Temporal and redlock, and add a comparison of default values';
const STANDARD = { max_iterations: 2, passages_per_question: 4 };

let corpus: Corpus;
const agent = offlineAgent(async () => corpus);

beforeAll(async () => {
  copyProductionReadmes(join(import.meta.dirname, '../../..'));
  corpus = await openCorpus({ root, folders: [{ path: 'node_modules', include: 'README*' }] });
});

afterAll(() => rmSync(root, { recursive: true }));

/** Development tools are left out, so that a new one does not change what these tests find. */
function copyProductionReadmes(project: string): void {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>;
  };
  for (const [folder, { dev, link }] of Object.entries(lock.packages)) {
    if (dev || link || !folder.startsWith('node_modules/')) continue;
    for (const readme of globSync(`${folder}/[Rr][Ee][Aa][Dd][Mm][Ee]*`, { cwd: project })) {
      cpSync(join(project, readme), join(root, readme));
    }
  }
}

async function planOf(query: string, ...feedback: string[]): Promise<string> {
  let plan = (await agent.plan({ ...FIRST_PLAN, query })).message;
  for (const [index, message] of feedback.entries()) {
    const conversation = [
      { role: 'assistant' as const, message: plan, timestamp: '2026-01-01T00:00:00Z' },
      { role: 'user' as const, message, timestamp: '2026-01-01T00:01:00Z' },
    ];
    const request = { ...FIRST_PLAN, query, current_plan: plan, conversation, current_round: index + 1 };
    plan = (await agent.plan(request)).message;
  }
  return plan;
}

async function researched(query: string, plan: string) {
  const { questions } = await agent.decompose({ query, context: {}, plan, max_questions: 5 });
  const findings = [];
  for (const question of questions)
    findings.push(await researchQuestion(question, localSource(corpus), STANDARD));
  const { sections, byN } = numberPassages(findings);
  const { report: body } = await agent.write({
    query,
    context: {},
    plan,
    conversation: [],
    strategy: 'standard',
    sections,
  });
  const finished = finishReport({ title: query, body, passages: byN, verify: true, enableCitations: true });
  return { ...finished, questions };
}

/** Area names with the documents behind `sources:` and those that hold nothing. */
function areasOf(plan: string): Map<string, { sources: string[]; silent: string[] }> {
  const lines = plan.matchAll(/^\d+\. \*\*(.+?)\*\* — sources: ([^;\n]+)(?:; nothing in (.+))?$/gm);
  return new Map(
    Array.from(lines, ([, name = '', sources = '', silent = '']) => [
      name,
      { sources: sources.split(', '), silent: silent.split(', ').filter((some) => some !== '') },
    ]),
  );
}

function sectionsOf(report: string): Map<string, string> {
  const parts = report.split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.split('\n', 1)[0] ?? '', part]));
}

const cited = (section = '') => section.match(/^- .+ \[\d+\][.!]?$/gm) ?? [];

describe('the plan over real READMEs', () => {
  test('names documents that cover an area, and none that mention it in passing', async () => {
    const plan = await planOf(QUERY);
    const areas = areasOf(plan);
    expect([...areas.keys()]).toEqual(['Retries', 'Locks', 'Time-outs']);
    expect(areas.get('Retries')?.sources[0]).toBe('ioredis');
    expect(areas.get('Locks')?.sources[0]).toBe('redlock');
    expect(areas.get('Time-outs')?.sources[0]).toBe('ioredis');
    expect(plan).not.toMatch(/statuses|jest-worker/);
  });

  test('after a focus on named libraries every area has its sources among them, and says which are silent', async () => {
    const areas = areasOf(await planOf(QUERY, FEEDBACK));
    expect(areas.get('Retries')).toEqual({ sources: ['ioredis', 'redlock'], silent: ['Temporal'] });
    expect(areas.get('Locks')).toEqual({ sources: ['redlock'], silent: ['ioredis', 'Temporal'] });
    expect(areas.get('Time-outs')?.sources).toEqual(['ioredis']);
    expect(areas.get('Comparison of default values')?.sources).toEqual(['ioredis']);
  });

  test.each(['redlock only', 'Only redlock', 'redlockだけで', '只看redlock', 'redlock saja'])(
    'after "%s" no area has another source, also where others were in focus before; the rest is left out',
    async (feedback) => {
      for (const before of [[], ['Focus on redlock and ioredis']]) {
        const plan = await planOf(QUERY, ...before, feedback);
        expect(areasOf(plan)).toEqual(
          new Map([
            ['Retries', { sources: ['redlock'], silent: [] }],
            ['Locks', { sources: ['redlock'], silent: [] }],
          ]),
        );
        expect(plan).toMatch(/Left out:\*\* .*; Time-outs$/m);
        expect(plan).not.toContain('ioredis');
      }
    },
  );

  test('a library that is dropped is no source and no focus any more', async () => {
    const plan = await planOf(QUERY, 'Focus on redlock and ioredis', 'drop ioredis');
    for (const { sources, silent } of areasOf(plan).values()) {
      expect([...sources, ...silent]).not.toContain('ioredis');
    }
    expect(plan).toMatch(/^\*\*Focus:\*\* redlock$/m);
    expect(plan).toContain('took "ioredis" out of the sources');
    const left = areasOf(await planOf(QUERY, 'drop ioredis')).get('Retries')?.sources ?? [];
    expect(left.length).toBeGreaterThan(0);
    expect(left).not.toContain('ioredis');
  });

  test('a maker stands for its packages', async () => {
    const areas = areasOf(
      await planOf('How do they handle locks?', 'Focus on Temporal and add TypeScript SDK'),
    );
    expect(areas.get('Locks')).toEqual({ sources: ['redlock'], silent: ['Temporal'] });
    const { sources = [] } = areas.get('TypeScript SDK') ?? {};
    expect(sources.length).toBeGreaterThan(1);
    for (const source of sources) expect(source).toMatch(/^@temporalio\//);
  });

  test('areas that more of the named libraries cover come first', async () => {
    const plan = await planOf('How do they handle time-outs and retries?', 'Focus on ioredis and redlock');
    expect([...areasOf(plan).keys()]).toEqual(['Retries', 'Time-outs']);
  });

  test('says of a subject that it is only mentioned, and takes the broader one', async () => {
    const { message } = await agent.plan({ ...FIRST_PLAN, query: '日志库如何设置日志级别？' });
    expect(message).toMatch(/1\. \*\*日志\*\* — 资料: pino/);
    expect(message).toContain('日志级别（仅略有提及）');
  });

  test('names no document where none fits', async () => {
    expect(await agent.plan({ ...FIRST_PLAN, query: 'What is the capital of France?' })).toMatchObject({
      intent: 'feedback',
      plan: null,
    });
  });
});

describe('the questions of such a plan', () => {
  test('hold the names of the documents that the plan wants, and no other library', async () => {
    const { questions } = await researched(QUERY, await planOf(QUERY, FEEDBACK));
    expect(questions[0]?.terms).toEqual(expect.arrayContaining(['retry', 'ioredis', 'redlock']));
    expect(questions[1]?.terms).toEqual(['lock', 'redlock']);
    expect(questions[3]?.terms).toEqual(expect.arrayContaining(['default', 'retry', 'lock', 'ioredis']));
  });
});

describe('the report over real READMEs', () => {
  test.each([
    ['the first plan', []],
    ['the plan after the focus', [FEEDBACK]],
  ])('has two cited sentences or more in each section: %s', async (_name, feedback) => {
    const { report, verification } = await researched(QUERY, await planOf(QUERY, ...feedback));
    const sections = sectionsOf(report);
    sections.delete('Sources');
    expect(sections.size).toBe(4 + feedback.length);
    for (const [heading, section] of sections)
      expect(cited(section).length, heading).toBeGreaterThanOrEqual(2);
    expect(verification.unsupported).toBe(0);
  });

  test('cites the libraries in focus and no other', async () => {
    const { report, citations } = await researched(QUERY, await planOf(QUERY, FEEDBACK));
    const sections = sectionsOf(report);
    expect(sections.get('Locks')).toContain('**redlock**');
    expect(cited(sections.get('Locks')).length).toBeGreaterThanOrEqual(2);
    expect(sections.get('Locks')).toContain(
      'No sentence on this in the local documents of ioredis, Temporal.',
    );
    expect(new Set(citations.map(({ url }) => url))).toEqual(
      new Set(['node_modules/ioredis/README.md', 'node_modules/redlock/README.md']),
    );
  });

  test('cites nothing but the library that it was limited to', async () => {
    const { citations } = await researched(QUERY, await planOf(QUERY, 'redlock only'));
    expect(new Set(citations.map(({ url }) => url))).toEqual(new Set(['node_modules/redlock/README.md']));
  });

  test('states defaults of what the query asks about where default values are an area', async () => {
    const { report } = await researched(QUERY, await planOf(QUERY, FEEDBACK));
    for (const line of cited(sectionsOf(report).get('Comparison of default values'))) {
      expect(line).toMatch(/default/);
      expect(line).toMatch(/retry|lock|timeout/i);
    }
  });

  test('says nothing twice outside the summary', async () => {
    const { report } = await researched(QUERY, await planOf(QUERY, FEEDBACK));
    const sections = sectionsOf(report);
    sections.delete('Summary');
    const lines = Array.from(sections.values()).flatMap((section) => cited(section));
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('holds whole sentences that make sense by themselves', async () => {
    for (const query of [QUERY, 'How does validation of input work?', 'How does ioredis reconnect?']) {
      const { report } = await researched(query, await planOf(query));
      const lines = Array.from(sectionsOf(report).values()).flatMap((section) => cited(section));
      expect(lines.length).toBeGreaterThan(3);
      for (const line of lines) {
        expect(line).toMatch(/\[\d+\][.!]$|^- `[^`]+`/);
        expect(line).not.toMatch(
          /^- (?:This (?!is an? )|It |See |These |Otherwise|The (?:default )?value is)/,
        );
      }
    }
  });
});

describe('a search for named documents', () => {
  test('prefers their passages, of which each still needs a word of the question', () => {
    const found = corpus.search('Retries', { limit: 4, terms: ['retry', 'ioredis', 'redlock'] });
    expect(new Set(found.map(({ url }) => url))).toEqual(
      new Set(['node_modules/ioredis/README.md', 'node_modules/redlock/README.md']),
    );
    for (const { text, heading } of found) expect(`${heading} ${text}`).toMatch(/retr(?:y|ies)/i);
  });

  test('puts sentences before lists of parameters', () => {
    const [first, second] = corpus.search('Locks', { limit: 9, terms: ['lock', 'redlock'] });
    for (const { heading } of [first!, second!]) expect(heading).not.toContain('(');
  });
});
