import type { BaseMessage } from '@langchain/core/messages';
import { Command as GraphCommand } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { Command } from '../../src/agent/index.ts';
import { type ModelReply, STEP_LIMIT_MESSAGE } from '../../src/index.ts';
import { approve, EMAIL, edit, email, OTHER, reject, rig, weather } from '../rig.ts';
import { langGraph, spelled } from './langgraph.ts';

type Act = { say: string } | { resume: unknown };

/** What both have to agree on after each step of a conversation. */
interface Observed {
  nodes: string[];
  payload: unknown;
  messages: { role: string; content: string }[];
  next: unknown;
  interrupts: unknown;
}

const config = { configurable: { thread_id: 'thread' } };

async function throughLangGraph(replies: ModelReply[], acts: Act[]) {
  const runs: unknown[] = [];
  const graph = langGraph(replies, runs);
  const observed: Observed[] = [];
  for (const act of acts) {
    const input =
      'say' in act
        ? { messages: [{ role: 'user', content: act.say }] }
        : new GraphCommand({ resume: act.resume });
    const nodes: string[] = [];
    let payload: unknown;
    for await (const update of await graph.stream(input as never, { ...config, streamMode: 'updates' })) {
      for (const [node, written] of Object.entries(update as Record<string, unknown>)) {
        if (node === '__interrupt__') payload = (written as { value: unknown }[])[0]?.value;
        else nodes.push(node);
      }
    }
    const state = await graph.getState(config);
    observed.push({
      nodes,
      payload,
      messages: spelled((state.values as { messages: BaseMessage[] }).messages),
      next: state.next,
      interrupts: state.tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value)),
    });
  }
  return { observed, runs };
}

async function throughOurs(replies: ModelReply[], acts: Act[]) {
  const { agent, runs } = rig(replies);
  const observed: Observed[] = [];
  for (const act of acts) {
    const nodes: string[] = [];
    const onStep = ({ node }: { node: string }) => nodes.push(node);
    const input =
      'say' in act ? { messages: [{ role: 'user' as const, content: act.say }] } : new Command(act);
    const result = await agent.invoke(input, { ...config, onStep });
    const state = await agent.getState(config);
    observed.push({
      nodes,
      payload: result.__interrupt__?.[0].value,
      messages: state.values.messages,
      next: state.next,
      interrupts: state.tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value)),
    });
  }
  return { observed, runs: runs.map(({ args }) => args) };
}

const answer = (...decisions: unknown[]): Act => ({ resume: { decisions } });
const say = (text: string): Act => ({ say: text });
const one = { content: 'I mail.', tool_calls: [email(EMAIL, 'a')] };
const two = { tool_calls: [email(EMAIL, 'a'), email(OTHER, 'b')] };
const mixed = { tool_calls: [weather('Jakarta', 'w'), email(EMAIL, 'a'), weather('Bogor', 'v')] };

describe('the same conversation through LangGraph and through ours: payloads, messages, nodes, state', () => {
  test.each<[string, ModelReply[], Act[]]>([
    ['text only', [], [say('hi')]],
    ['a free tool', [{ tool_calls: [weather('Jakarta', 'w')] }], [say('hi')]],
    ['approve', [one], [say('hi'), answer(approve)]],
    ['reject with a reason', [one], [say('hi'), answer(reject('Wrong recipient.'))]],
    ['reject without one', [one], [say('hi'), answer(reject())]],
    ['reject with an empty one', [one], [say('hi'), answer(reject(''))]],
    ['edit', [one], [say('hi'), answer(edit(OTHER))]],
    ['edit to another tool', [one], [say('hi'), answer(edit({ location: 'Solo' }, 'get_weather'))]],
    ['[reject, approve]', [two], [say('hi'), answer(reject('Not this one'), approve)]],
    ['[approve, reject]', [two], [say('hi'), answer(approve, reject())]],
    ['[edit, reject]', [two], [say('hi'), answer(edit(OTHER), reject('no'))]],
    ['all rejected', [two], [say('hi'), answer(reject('a'), reject('b'))]],
    ['free siblings of an approved call', [mixed], [say('hi'), answer(approve)]],
    ['free siblings of a rejected call', [mixed], [say('hi'), answer(reject())]],
    ['fewer decisions than actions', [two], [say('hi'), answer(approve)]],
    ['no decisions', [two], [say('hi'), answer()]],
    ['more decisions than actions', [one], [say('hi'), answer(approve, reject())]],
    [
      'three reviews in a row',
      [one, { tool_calls: [email(OTHER, 'b')] }, { tool_calls: [email(EMAIL, 'c')] }],
      [say('hi'), answer(approve), answer(reject('no')), answer(approve)],
    ],
    [
      'a free turn after a review',
      [one, { tool_calls: [weather('Solo', 'w')] }],
      [say('hi'), answer(approve)],
    ],
    [
      'a second turn',
      [one, { content: 'Sent.' }, { tool_calls: [email(OTHER, 'b')] }],
      [say('hi'), answer(approve), say('another'), answer(reject())],
    ],
  ])('%s', async (_, replies, acts) => {
    const theirs = await throughLangGraph(replies, acts);
    const ours = await throughOurs(replies, acts);
    expect(ours.observed).toEqual(theirs.observed);
    expect(ours.runs).toEqual(theirs.runs);
  });
});

describe('where ours differs on purpose (contract/tool-approval.md §4)', () => {
  const lastResult = (observed: Observed[]) =>
    observed.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.content;

  test('an edit to a tool that does not exist: our text lists the tools', async () => {
    const acts = [say('hi'), answer(edit({}, 'fly'))];
    expect(lastResult((await throughOurs([one], acts)).observed)).toBe(
      "Error: fly is not a valid tool, try one of ['get_weather', 'send_email'].",
    );
    expect(lastResult((await throughLangGraph([one], acts)).observed)).toMatch(/fly.*not found/);
  });

  test('arguments that do not fit: our text names the fields; fields outside the schema are refused, theirs dropped', async () => {
    const missing = [say('hi'), answer(edit({ to: 'a' }))];
    const theirs = lastResult((await throughLangGraph([one], missing)).observed);
    const ours = lastResult((await throughOurs([one], missing)).observed);
    for (const text of [ours, theirs]) expect(text).toMatch(/subject/);
    expect(ours).toMatch(/^Error: invalid arguments for send_email\. subject: .*; body: /);
    const surplus = [say('hi'), answer(edit({ ...EMAIL, bcc: 'x' }))];
    expect((await throughLangGraph([one], surplus)).runs).toEqual([EMAIL]);
    expect((await throughOurs([one], surplus)).runs).toEqual([]);
  });

  test('a message while a review is pending: theirs drops the review, ours refuses the message', async () => {
    const acts = [say('hi'), say('forget it')];
    const { observed } = await throughLangGraph([one], acts);
    expect(observed[1]?.interrupts).toEqual([]);
    await expect(throughOurs([one], acts)).rejects.toThrow('Masih ada aksi yang menunggu persetujuan');
  });

  test('an unknown type of decision: theirs runs the call, ours refuses the answer', async () => {
    const acts = [say('hi'), answer({ type: 'postpone' })];
    expect((await throughLangGraph([one], acts)).runs).toEqual([EMAIL]);
    await expect(throughOurs([one], acts)).rejects.toThrow("Jenis keputusan 'postpone' tidak dikenal");
  });

  test('a resume with nothing pending: ours says so', async () => {
    await expect(throughOurs([], [say('hi'), answer(approve)])).rejects.toThrow('Tidak ada aksi');
  });

  test('a blank reason: theirs is sent as it is, ours counts as none', async () => {
    const acts = [say('hi'), answer(reject(' '))];
    expect(lastResult((await throughLangGraph([one], acts)).observed)).toBe(' ');
    expect(lastResult((await throughOurs([one], acts)).observed)).toMatch(/^User rejected/);
  });

  test('repeated ids of calls: theirs loses a result, ours makes them unique', async () => {
    const twins = { tool_calls: [email(EMAIL, 'a'), email(OTHER, 'a')] };
    const acts = [say('hi'), answer(reject('no'), approve)];
    expect((await throughLangGraph([twins], acts)).runs).not.toEqual([OTHER]);
    expect((await throughOurs([twins], acts)).runs).toEqual([OTHER]);
  });

  test('a model that never stops: theirs throws, ours answers', async () => {
    const endless = Array.from({ length: 40 }, (_, i) => ({ tool_calls: [weather('x', `w${i}`)] }));
    await expect(throughLangGraph(endless, [say('hi')])).rejects.toThrow(/[Rr]ecursion/);
    const { observed } = await throughOurs(endless, [say('hi')]);
    expect(observed[0]?.messages.at(-1)?.content).toBe(STEP_LIMIT_MESSAGE);
  });
});
