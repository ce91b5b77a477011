import { type Corpus, openCorpus } from '@plangate/research/corpus';
import { Settings } from '@plangate/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildAgent } from '../src/build-agent.ts';
import { selectModel } from '../src/models/select.ts';
import { offlineAgent } from '../src/offline/agent.ts';
import { FIRST_PLAN, type RunningApp, startApp } from './app.ts';

const { models } = Settings.parse({});
let corpus: Corpus;
let app: RunningApp;

beforeAll(async () => {
  corpus = await openCorpus({
    root: new URL('./fixtures/', import.meta.url).pathname,
    folders: [{ path: 'documents', include: '*.md' }],
  });
  const agent = buildAgent({ models, environment: {}, offline: offlineAgent(async () => corpus) });
  app = await startApp(agent, { provider: async () => selectModel(models, {}, {}) });
});
afterAll(() => app.stop());

const round = { role: 'user', message: 'm', timestamp: '2026-01-01T00:00:00Z' };

test('without a key the offline provider answers', async () => {
  const { status, body } = await app.post('/agent/research-plan', FIRST_PLAN);
  expect(status).toBe(200);
  expect(body).toMatchObject({ provider: 'offline', model: 'offline-extractive', round: 0 });
});

test('a model asked for by name is never swapped for the offline one', async () => {
  expect(await app.post('/agent/research-plan', { ...FIRST_PLAN, model_override: 'gpt-5' })).toMatchObject({
    status: 503,
    body: { error: 'LLM providers not configured' },
  });
});

describe('a body', () => {
  test.each<[string, string, object]>([
    ['query', '/agent/research-plan', { query: '' }],
    ['query', '/agent/research-plan', { query: 'a'.repeat(40_001) }],
    ['context', '/agent/research-plan', { context: { a: 'a'.repeat(64 * 1024) } }],
    ['conversation.0.role', '/agent/research-plan', { conversation: [{ ...round, role: 'system' }] }],
    [
      'conversation.0.message',
      '/agent/research-plan',
      { conversation: [{ ...round, message: 'a'.repeat(65_537) }] },
    ],
    ['conversation', '/agent/research-plan', { conversation: Array(22).fill(round) }],
    ['current_plan', '/agent/research-plan', { current_plan: 'あ'.repeat(30_000) }],
    ['current_round', '/agent/research-plan', { current_round: -1 }],
    ['model_tier', '/agent/research-plan', { model_tier: 'huge' }],
    ['plan', '/agent/decompose', { max_questions: 3 }],
    ['max_questions', '/agent/decompose', { plan: 'p', max_questions: 51 }],
    ['strategy', '/agent/write', { plan: 'p', sections: [], strategy: 'fast' }],
    ['query', '/agent/answer', { query: 5 }],
  ])('with a wrong %s of %s is 400 and names it', async (field, path, fault) => {
    const { status, body } = await app.post(path, { ...FIRST_PLAN, ...fault });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_body', field });
    expect(body['error']).toContain(field);
  });

  test('of another type is 415, no JSON 400, too long 413', async () => {
    const url = `${app.url}/agent/answer`;
    expect((await fetch(url, { method: 'POST', body: 'a=b' })).status).toBe(415);
    expect((await app.post('/agent/answer', '{')).status).toBe(400);
    expect((await app.post('/agent/answer', '[]')).status).toBe(400);
    expect((await app.post('/agent/answer', { query: 'a'.repeat(9 * 1024 * 1024) })).status).toBe(413);
  });
});

test('other paths and methods have the one error shape', async () => {
  const unknown = await app.post('/agent/nothing', {});
  expect(unknown).toMatchObject({
    status: 404,
    body: { error: expect.any(String), code: expect.any(String) },
  });
  const wrong = await fetch(`${app.url}/agent/write`);
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('Allow')).toBe('POST');
});

test('health and readiness answer, and every answer has a request id', async () => {
  const health = await fetch(`${app.url}/health`);
  expect(health.status).toBe(200);
  expect(health.headers.get('X-Request-ID')).toBeTruthy();
  expect(await (await fetch(`${app.url}/readiness`)).json()).toMatchObject({
    status: 'ready',
    checks: { provider: 'ok' },
  });
});

describe('the choice of a provider', () => {
  const tiers = { small: 's', medium: 'm', large: 'l' };
  const settings = Settings.parse({
    models: {
      providers: {
        one: { kind: 'openai', api_key_env: 'ONE', tiers },
        two: { kind: 'anthropic', api_key_env: 'TWO', tiers },
      },
    },
  }).models;
  const chosen = (environment: NodeJS.ProcessEnv, provider = 'auto') => {
    const selection = selectModel({ ...settings, provider }, environment, {});
    return selection.kind === 'offline' ? 'offline' : selection.name;
  };

  test('auto takes the first one whose key is set, else offline', () => {
    expect(chosen({ TWO: 'k' })).toBe('two');
    expect(chosen({ ONE: 'k', TWO: 'k' })).toBe('one');
    expect(chosen({ ONE: '' })).toBe('offline');
  });

  test('auto takes a server that needs no key', () => {
    const local = { kind: 'openai-compatible' as const, base_url: 'http://127.0.0.1:2/v1', tiers };
    const selection = selectModel({ ...settings, providers: { ...settings.providers, local } }, {}, {});
    expect(selection).toMatchObject({ kind: 'model', name: 'local', modelId: 'm' });
  });

  test('a provider by name without its key, or unknown, is not configured', () => {
    expect(() => chosen({}, 'one')).toThrow('ONE is not set');
    expect(() => chosen({}, 'three')).toThrow('unknown provider');
    expect(chosen({ ONE: 'k' }, 'offline')).toBe('offline');
  });
});
