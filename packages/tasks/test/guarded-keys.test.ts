import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readSubmission } from '../src/index.ts';
import { LIMITS, PRESETS } from './presets.ts';

const GUARDED = ['require_review', 'review_plan', 'review_timeout', 'force_research'];
const name = fc.constantFrom(...GUARDED);
const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');

/** The name in another case and with other separators, but not the name itself. */
const respelt = name.chain((word) =>
  fc
    .tuple(
      fc.array(fc.boolean(), { minLength: word.length, maxLength: word.length }),
      fc.constantFrom('_', '-', '', '__'),
    )
    .map(([upper, separator]) =>
      [...word].map((c, at) => (c === '_' ? separator : upper[at] ? c.toUpperCase() : c)).join(''),
    ),
);

/** The name with one or two letters put in, left out or changed. */
const mistyped = name.chain((word) =>
  fc
    .array(fc.tuple(fc.constantFrom('put', 'leave', 'change'), fc.nat(), letter), {
      minLength: 1,
      maxLength: 2,
    })
    .map((edits) =>
      edits.reduce((text, [edit, place, c]) => {
        const at = place % text.length;
        return text.slice(0, at) + (edit === 'leave' ? '' : c) + text.slice(edit === 'put' ? at : at + 1);
      }, word),
    ),
);
const nearMiss = fc.oneof(respelt, mistyped).filter((key) => !GUARDED.includes(key));

const read = (body: object) => readSubmission({ query: 'q', ...body }, LIMITS, PRESETS);

describe('a gate is not skipped by a typo', () => {
  it('refuses every near-miss in the context', () => {
    fc.assert(
      fc.property(nearMiss, (key) => {
        const answer = read({ context: { [key]: true } });
        expect(answer).toMatchObject({ ok: false, status: 400, code: 'unknown_key' });
        if (!answer.ok)
          expect(answer.error).toMatch(/^Unknown key '.+' \(did you mean 'context\.[a-z_]+'\?\)$/);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses every near-miss, and the names themselves, at the top level of the body', () => {
    fc.assert(
      fc.property(fc.oneof(name, nearMiss), (key) => {
        expect(read({ [key]: true })).toMatchObject({ ok: false, code: 'unknown_key' });
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    'force_swarm',
    'review_notes',
    'review',
    'reviewer',
    'timeout',
    'priority',
    'research',
    'research_strategy',
    'research_brief',
    'review_conversation',
    'confirmed_plan',
    'constructor',
    '',
  ])('takes the unrelated key "%s" in the context', (key) => {
    const value = { force_swarm: false, research_strategy: 'deep' }[key] ?? 'x';
    expect(read({ context: { [key]: value } }).ok).toBe(true);
  });

  it('takes unknown words at both places when no guarded name is like them', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(word, (key) => {
        expect(read({ context: { [key]: 1 }, [`x_${key}`]: 1 }).ok).toBe(true);
      }),
    );
  });

  it('takes a body of many and of very long unrelated keys', () => {
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`key_${n}`, 1]));
    expect(read({ ...many, ['require_review'.repeat(20_000)]: 1 }).ok).toBe(true);
  });
});
