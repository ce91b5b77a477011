import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Citation, ResearchMetadata, type ReviewBody, type TaskBody } from '@plangate/contracts';
import { type Stack, startStack } from '@plangate/devstack';
import { type Corpus, openCorpus } from '@plangate/research/corpus';
import { PROJECT_FOLDER } from '@plangate/service';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runDemo } from '../packages/devstack/src/demo.ts';
import { runApprovalDemo } from '../packages/devstack/src/demo-approval.ts';
import { ALL_APPS } from '../packages/devstack/src/stack.ts';
import { type Client, connectClient } from './support/client.ts';

let stack: Stack;
let client: Client;
const said: string[] = [];
let task: TaskBody;
let review: ReviewBody;
let metadata: ResearchMetadata;
/** The documents as the product cuts them. */
let corpus: Corpus;
beforeAll(async () => {
  stack = await startStack({ temporalAddress: inject('temporalAddress'), apps: ALL_APPS });
  client = connectClient(stack.gatewayUrl);
  await runDemo(stack.gatewayUrl, (line) => void said.push(line));
  const { tasks } = (await client.ask('/api/v1/tasks')).json;
  task = await client.task(tasks[0].task_id);
  review = await client.review(task.task_id);
  metadata = ResearchMetadata.parse(task.metadata);
  corpus = await openCorpus({
    root: PROJECT_FOLDER,
    folders: [{ path: 'node_modules', include: 'README*' }],
  });
}, 180_000);
afterAll(() => stack?.stop());

const SOURCES = '\n## Sources\n';
const body = () => task.result.split(SOURCES)[0] ?? '';
const references = (text: string) => [...text.matchAll(/\[(\d+)(: [^\]]*)?\]/g)];
/** Letters and digits without link targets and tags: what a Markdown file and its plain words have in common. */
const letters = (text: string) =>
  text
    .replace(/\]\([^)]*\)|\]\[[^\]]*\]|<\/?[a-z][^>]*>/gi, '')
    .replace(/&[a-z]+;/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');

describe('the demo, with no key and no network', () => {
  test('walks from the question over plan, feedback and approval to the report', () => {
    const steps = [
      'A person asks',
      'The planner proposes',
      'gives feedback',
      'The planner revises',
      'approves',
    ];
    const text = said.join('\n');
    const places = [...steps, 'Research started', 'RESEARCH_PLAN_APPROVED', 'Report'].map((step) =>
      text.indexOf(step),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(said).toContain(task.result);
  });

  test('says honestly who wrote it', () => {
    expect(task).toMatchObject({ status: 'TASK_STATUS_COMPLETED', provider: 'offline' });
    expect(metadata.provider).toBe('offline');
  });

  test('P30 the revised plan is the one that was approved and that ran', () => {
    const sha256 = createHash('sha256').update(review.current_plan).digest('hex');
    expect([metadata.plan_sha256, review.plan_sha256]).toEqual([sha256, sha256]);
    expect(task.context['confirmed_plan']).toBe(review.current_plan);
    expect(review.rounds).toHaveLength(3);
    expect(review.rounds[0]?.message).not.toBe(review.current_plan);
  });

  test('the plan follows the feedback, and the report what the documents hold of it', () => {
    for (const name of [/ioredis/i, /temporal/i, /redlock/i]) expect(review.current_plan).toMatch(name);
    const urls = metadata.citations.map(({ url }) => url);
    expect(urls).toContain('node_modules/ioredis/README.md');
    expect(urls).toContain('node_modules/redlock/README.md');
  });
});

describe('its citations', () => {
  test('every [n] of the report is a citation and every citation is used, numbered by first use', () => {
    const used = [...new Set(references(body()).map(([, n]) => Number(n)))];
    expect(used.length).toBeGreaterThan(2);
    expect(used).toEqual(metadata.citations.map(({ n }) => n));
    expect(used).toEqual(used.map((_, index) => index + 1));
  });

  test('every quote stands letter by letter in the passage that its citation names', () => {
    for (const { passage_id, quote, url, title } of metadata.citations) {
      const passage = corpus.passage(passage_id);
      expect(passage).toMatchObject({ url, title, source: 'local' });
      expect(quote.length).toBeGreaterThan(10);
      expect(passage?.text).toContain(quote);
    }
  });

  test('every quote stands in the file that its citation names', () => {
    for (const { quote, url } of metadata.citations) {
      const file = readFileSync(join(PROJECT_FOLDER, url), 'utf8');
      expect(letters(file)).toContain(letters(quote));
    }
  });

  test('the counts of the verification agree with the report', () => {
    const { claims, supported, unsupported } = metadata.verification;
    const marks = references(body());
    const unsound = marks.filter(([, , mark]) => mark !== undefined);
    expect(claims).toBe(supported + unsupported);
    expect(claims).toBe(marks.length);
    expect(unsupported).toBe(unsound.length);
    expect(supported).toBeGreaterThan(0);
    const sound = new Set(marks.filter(([, , mark]) => mark === undefined).map(([, n]) => Number(n)));
    const expected = ({ n, checked }: Citation) => [n, checked];
    expect(metadata.citations.map(expected)).toEqual(metadata.citations.map(({ n }) => [n, sound.has(n)]));
  });

  test('the list of sources under the report is that of the metadata', () => {
    const lines = (task.result.split(SOURCES)[1] ?? '').trim().split('\n');
    expect(lines).toHaveLength(metadata.citations.length);
    for (const [index, { n, url }] of metadata.citations.entries()) {
      expect(lines[index]?.startsWith(`- [${n}] `)).toBe(true);
      expect(lines[index]?.replaceAll('\\', '')).toContain(url);
    }
  });

  test('the demo shows each of them', () => {
    for (const { n, title, url } of metadata.citations) {
      expect(said.some((line) => line.startsWith(`[${n}] ${title}`) && line.includes(url))).toBe(true);
    }
  });
});

describe('its second act', () => {
  const outbox = () => stack.env['APPROVAL_AGENT_OUTBOX'] ?? '';
  const lines: string[] = [];
  beforeAll(() => runApprovalDemo(stack.approvalUrl, outbox(), (line) => void lines.push(line)), 60_000);

  test('the agent proposes 10, the person says 11, and only 11 is sent', async () => {
    const [file, ...more] = readdirSync(outbox());
    expect(more).toEqual([]);
    const mail = readFileSync(join(outbox(), file ?? ''), 'utf8');
    expect(mail).toContain('To: alice@example.com');
    expect(mail).toContain('The meeting is at 11.');
    expect(mail).not.toContain('at 10');
    const text = lines.join('\n');
    expect(text.indexOf('at 10')).toBeLessThan(text.indexOf('at 11'));
  });

  test('P66 the history says 11 too, and nothing in it says what was not sent', () => {
    const history = lines.at(-1) ?? '';
    expect(history).toMatch(/^\nHistory: send_email /);
    expect(JSON.parse(history.slice(history.indexOf('{')))).toEqual({
      to: 'alice@example.com',
      subject: 'Meeting',
      body: 'The meeting is at 11.',
    });
  });
});
