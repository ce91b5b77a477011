import { readFileSync } from 'node:fs';
import { parseWorkflowId, TaskInput } from '@plangate/contracts';
import { describe, expect, it, test } from 'vitest';
import { readSubmission, type Submission, toTaskInput } from '../src/index.ts';
import { LIMITS, PRESETS } from './presets.ts';

const read = (body: unknown) => readSubmission(body, LIMITS, PRESETS);
const cases = (file: string) =>
  JSON.parse(readFileSync(new URL(`./fixtures/${file}`, import.meta.url), 'utf8')).cases;

function accepted(body: unknown): Submission {
  const answer = read(body);
  if (!answer.ok) throw new Error(`refused: ${answer.error}`);
  return answer.submission;
}

function refused(body: unknown): string {
  const answer = read(body);
  if (answer.ok) throw new Error('was accepted');
  expect(answer.status).toBe(400);
  expect(answer.code).toMatch(/^[a-z0-9_]+$/);
  return answer.error;
}

interface FlagCase {
  context: unknown;
  body?: object;
  review?: boolean;
  error?: string;
}

describe('whether a review is held', () => {
  test.each(cases('context-flags.json') as FlagCase[])(
    '$context $body',
    ({ context, body, review, error }) => {
      const whole = { query: 'q', context, ...body };
      if (error) expect(refused(whole)).toContain(error);
      else expect(accepted(whole).review !== null).toBe(review);
    },
  );

  it('uses the exact texts of the contract', () => {
    const of = (context: object) => refused({ query: 'q', context });
    expect(of({ require_review: 'yes' })).toBe('require_review must be true or false');
    expect(of({ force_swarm: null })).toBe('force_swarm must be true or false');
    expect(of({ require_review: true, force_research: '0' })).toBe('require_review needs force_research');
    expect(of({ review_plan: 'manual', force_research: false })).toBe('require_review needs force_research');
    expect(of({ review_plan: true })).toBe("review_plan must be 'manual' or 'auto'");
    expect(of({ review_plan: 'manual', require_review: false })).toBe(
      'review_plan contradicts require_review',
    );
    expect(of({ review_plan: 'manual', force_swarm: '1' })).toBe('force_swarm cannot be reviewed');
    expect(of({ 'Require-Review': true })).toBe(
      "Unknown key 'Require-Review' (did you mean 'context.require_review'?)",
    );
  });

  it('takes force_swarm where there is no review', () => {
    expect(accepted({ query: 'q', context: { force_swarm: true } }).review).toBeNull();
  });
});

interface TimeoutCase {
  value: unknown;
  absent?: boolean;
  seconds?: number;
  error?: boolean;
}

describe('review_timeout', () => {
  test.each(cases('review-timeout.json') as TimeoutCase[])(
    'P04 $value',
    ({ value, absent, seconds, error }) => {
      const context = { require_review: true, ...(absent ? {} : { review_timeout: value }) };
      if (error) {
        expect(refused({ query: 'q', context })).toBe('review_timeout out of range (1..2592000)');
        expect(refused({ query: 'q', context: { review_timeout: value } })).toContain('review_timeout');
      } else {
        expect(accepted({ query: 'q', context }).review).toEqual({ timeoutSeconds: seconds, maxRounds: 10 });
      }
    },
  );

  it('takes its default and its limit from the settings', () => {
    const limits = { defaultTimeoutSeconds: 5, maxTimeoutSeconds: 60, maxRounds: 2 };
    const body = (review_timeout?: number) => ({
      query: 'q',
      context: { require_review: true, ...(review_timeout ? { review_timeout } : {}) },
    });
    expect(readSubmission(body(), limits, PRESETS)).toMatchObject({
      submission: { review: { timeoutSeconds: 5, maxRounds: 2 } },
    });
    expect(readSubmission(body(61), limits, PRESETS)).toMatchObject({
      error: 'review_timeout out of range (1..60)',
    });
  });
});

describe('the fields of the body', () => {
  test.each([
    [null, 'Invalid request body'],
    ['text', 'Invalid request body'],
    [[], 'Invalid request body'],
    [{}, 'Query is required'],
    [{ query: 7 }, 'Query is required'],
    [{ query: ' \u3000\u200b' }, 'Query is required'],
    [{ query: '😀'.repeat(10_001) }, 'Query exceeds 10000 characters'],
    [{ query: 'q', session_id: 'a b' }, 'Invalid session_id format'],
    [{ query: 'q', session_id: 5 }, 'Invalid request body'],
    [{ query: 'q', mode: 'fast' }, 'Invalid mode (allowed: simple, standard, complex, supervisor)'],
    [{ query: 'q', model_tier: 'huge' }, 'Invalid model_tier (allowed: small, medium, large)'],
    [
      { query: 'q', research_strategy: 'slow' },
      'Invalid research_strategy (allowed: quick, standard, deep, academic)',
    ],
    [
      { query: 'q', context: { research_strategy: 'slow' } },
      'Invalid research_strategy (allowed: quick, standard, deep, academic)',
    ],
    [{ query: 'q', max_concurrent_agents: 21 }, 'max_concurrent_agents out of range (1..20)'],
    [{ query: 'q', context: { max_concurrent_agents: 0 } }, 'max_concurrent_agents out of range (1..20)'],
    [{ query: 'q', max_iterations: 1.5 }, 'max_iterations out of range (1..50)'],
    [{ query: 'q', context: { max_iterations: 51 } }, 'max_iterations out of range (1..50)'],
    [{ query: 'q', context: { max_iterations: '5' } }, 'Invalid request body'],
    [{ query: 'q', enable_verification: 'yes' }, 'Invalid request body'],
    [{ query: 'q', context: { enable_citations: 'yes' } }, 'enable_citations must be true or false'],
  ])('%j is refused: %s', (body, text) => {
    expect(refused(body)).toBe(text);
  });

  it('cleans the query and takes one of exactly 10000 characters', () => {
    expect(accepted({ query: 'a\u0000b\r\nc\ud800' }).query).toBe('ab\nc\ufffd');
    expect(accepted({ query: '😀'.repeat(10_000) }).query.length).toBe(20_000);
  });
});

describe('what the task will do', () => {
  it('is research only when research or a review is asked for', () => {
    expect(accepted({ query: 'q', research_strategy: 'deep' }).kind).toBe('answer');
    expect(accepted({ query: 'q', context: { force_research: '1' } }).kind).toBe('research');
    expect(accepted({ query: 'q', mode: 'simple', context: { require_review: true } }).kind).toBe('research');
  });

  it('takes settings from the context, the top level wins, the preset fills the rest', () => {
    const { strategyName, strategy, enableCitations } = accepted({
      query: 'q',
      max_iterations: 7,
      enable_verification: false,
      context: {
        research_strategy: 'academic',
        max_iterations: 9,
        max_concurrent_agents: 4,
        enable_verification: true,
        enable_citations: '0',
      },
    });
    expect(strategyName).toBe('academic');
    expect(strategy).toEqual({
      ...PRESETS.academic,
      max_iterations: 7,
      max_concurrent_agents: 4,
      enable_verification: false,
    });
    expect(enableCitations).toBe(false);
  });

  it('fills in an open submission', () => {
    expect(accepted({ query: 'q' })).toEqual({
      query: 'q',
      sessionId: null,
      context: {},
      mode: 'standard',
      kind: 'answer',
      review: null,
      strategyName: 'standard',
      strategy: PRESETS.standard,
      enableCitations: true,
      model: {},
    });
  });

  it('makes the input of the workflow, which its schema takes', () => {
    const submission = accepted({
      query: 'q',
      model_tier: 'small',
      provider_override: 'openai',
      context: { require_review: true, note: { a: [1] } },
    });
    const input = toTaskInput(submission, parseWorkflowId('task-1')!, { user: 'u', tenant: 't' });
    expect(TaskInput.parse(input)).toEqual(input);
    expect(input).toMatchObject({
      context: { require_review: true, note: { a: [1] } },
      review: { timeout_seconds: 900, max_rounds: 10 },
      model: { model_tier: 'small', provider_override: 'openai' },
    });
  });
});

describe('a context from outside', () => {
  it('is kept with its unknown keys, its texts cleaned', () => {
    const context = { note: 'a\r\nb', list: [{ deep: 'x\u0007' }, 1, null, true], constructor: 'c' };
    expect(accepted({ query: 'q', context }).context).toEqual({
      note: 'a\nb',
      list: [{ deep: 'x' }, 1, null, true],
      constructor: 'c',
    });
  });

  it('cannot reach a prototype, at any depth', () => {
    for (const context of [
      '{"__proto__":{"require_review":true}}',
      '{"a":[{"__proto__":1}]}',
      '{"__pro\\u0000to__":1}',
    ]) {
      expect(refused({ query: 'q', context: JSON.parse(context) })).toBe('Invalid request body');
    }
    expect(
      accepted(JSON.parse('{"query":"q","__proto__":{"context":{"require_review":true}}}')).review,
    ).toBeNull();
  });

  it('two keys that are one after cleaning are refused: neither takes the place of the other', () => {
    const context = { require_review: true, 'require_review\u0000': false };
    expect(refused({ query: 'q', context })).toBe('Invalid request body');
  });

  it.each(['require_review\u200b\u200b\u200b', ' require_review', 'require\u00ad\u00ad\u00adreview'])(
    'invisible letters do not hide a misspelt gate: %j',
    (key) => {
      expect(refused({ query: 'q', context: { [key]: true } })).toContain(
        "did you mean 'context.require_review'",
      );
    },
  );

  it('is judged after cleaning, so that hidden characters do not hide a key', () => {
    const context = { '\u0000\u0001\u0002require_review': true };
    expect(accepted({ query: 'q', context }).review).not.toBeNull();
  });

  it('holds at most 64 KiB of JSON', () => {
    const fits = { n: 'é'.repeat((64 * 1024 - '{"n":""}'.length) / 2) };
    expect(accepted({ query: 'q', context: fits }).context).toEqual(fits);
    const answer = read({ query: 'q', context: { n: `${fits.n}x` } });
    expect(answer).toMatchObject({
      status: 400,
      code: 'context_too_long',
      error: 'context exceeds maximum length (64KB)',
      fields: { limit: 65_536, length: 65_537 },
    });
  });

  it('is refused, not overflowed by, when nested without end', () => {
    const depth = 400_000;
    const context = JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(refused({ query: 'q', context })).toContain('nested');
  });
});
