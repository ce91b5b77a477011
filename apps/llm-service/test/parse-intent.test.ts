import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EmptyReply, parsePlanReply } from '../src/planner/parse-intent.ts';

interface Row {
  reply: string;
  text?: string;
  intent?: 'feedback' | 'ready';
  brief?: string;
  plan?: null;
  error?: boolean;
}

const rows: Row[] = JSON.parse(
  readFileSync(new URL('./fixtures/llm-replies.json', import.meta.url), 'utf8'),
).cases;

const FENCE = '```';

const more: (Row & { currentPlan?: string; finalRound?: boolean })[] = [
  { reply: 'Plan\n__`[INTENT:ready]`__', text: 'Plan', intent: 'ready' },
  { reply: 'Plan\n\u3000[INTENT:ready]\u3000', text: 'Plan', intent: 'ready' },
  { reply: '[INTENT:ready]\nWhich?\n[INTENT:feedback]', text: 'Which?', intent: 'feedback' },
  { reply: 'Plan\n> [INTENT:ready]', text: 'Plan\n> [INTENT:ready]', intent: 'feedback' },
  { reply: 'Plan\n[INTENT: ready]', text: 'Plan\n[INTENT: ready]', intent: 'feedback' },
  { reply: 'Plan\n[INTENT:ready].', text: 'Plan\n[INTENT:ready].', intent: 'feedback' },
  { reply: `Plan\n${FENCE}js\n[INTENT:ready]`, text: `Plan\n${FENCE}js\n[INTENT:ready]`, intent: 'feedback' },
  {
    reply: `A\n${FENCE}\`\n${FENCE}\n[INTENT:ready]\n${FENCE}\`\nB`,
    text: `A\n${FENCE}\`\n${FENCE}\n[INTENT:ready]\n${FENCE}\`\nB`,
    intent: 'feedback',
  },
  { reply: 'A\n~~~\n[INTENT:ready]\n```\n~~~', text: 'A\n~~~\n[INTENT:ready]\n```\n~~~', intent: 'feedback' },
  { reply: 'A\n~~~\ncode\n~~~\n[INTENT:ready]', text: 'A\n~~~\ncode\n~~~', intent: 'ready' },
  { reply: 'A\n```[INTENT:ready]```', text: 'A', intent: 'ready' },
  { reply: '[RESEARCH_BRIEF]x[/RESEARCH_BRIEF]\n[INTENT:ready]', error: true },
  { reply: '\u200b\u2060\n[INTENT:ready]', error: true },
  { reply: 'A [RESEARCH_BRIEF] \n [/RESEARCH_BRIEF]\n[INTENT:ready]', text: 'A', intent: 'ready' },
  {
    reply: 'A\n[RESEARCH_BRIEF]\n[INTENT:ready]\n```\n[/RESEARCH_BRIEF]\nB\n[INTENT:feedback]',
    text: 'A\n\nB',
    intent: 'feedback',
    brief: '[INTENT:ready]\n```',
  },
  { reply: 'Lone \ud800\n[INTENT:ready]', text: 'Lone \ufffd', intent: 'ready' },
  { reply: 'Go\n[INTENT:execute]', text: 'Go', intent: 'feedback', currentPlan: '' },
  { reply: 'Go\n[INTENT:execute]', text: 'Go', intent: 'feedback', currentPlan: ' \n' },
  { reply: 'Go\n[INTENT:execute]', text: 'Go', intent: 'ready', plan: null, finalRound: true },
  { reply: 'Go\n[INTENT:execute]', text: 'Go', intent: 'ready', currentPlan: '', finalRound: true },
  { reply: 'Which?\n[INTENT:feedback]', text: 'Which?', intent: 'ready', finalRound: true },
  { reply: 'Some text', text: 'Some text', intent: 'ready', finalRound: true },
  { reply: '[INTENT:ready]', error: true, finalRound: true },
];

describe('the one parser of a planner reply', () => {
  test.each([...rows, ...more])('$reply', (row) => {
    const { currentPlan = 'OLD', finalRound = false } = row as (typeof more)[number];
    const parse = () => parsePlanReply(row.reply, { currentPlan, finalRound });
    if (row.error) {
      expect(parse).toThrow(EmptyReply);
      return;
    }
    const plan = row.plan === null || row.intent === 'feedback' ? null : row.text;
    expect(parse()).toEqual({
      message: row.text,
      intent: row.intent,
      plan,
      ...(row.brief === undefined ? {} : { research_brief: row.brief }),
    });
  });
});
