import { type RedisServer, startRedis } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { type Checkpointer, Command, MemoryCheckpointer, ReviewedChatUseCase } from '../src/agent/index.ts';
import { RedisCheckpointer } from '../src/checkpoint/redis.ts';
import { DomainError, type ModelReply, type ThreadMessage, TurnRunningError } from '../src/index.ts';
import { EMAIL, email, type Run, rig } from './rig.ts';

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url);
  await until(() => redis.status === 'ready');
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const approve = [{ type: 'approve' }];

describe.each<[string, () => Checkpointer]>([
  ['memory', () => new MemoryCheckpointer()],
  ['Redis', () => new RedisCheckpointer(redis, { prefix: crypto.randomUUID() })],
])('threads kept in %s', (_, make) => {
  test.each(['approve', 'reject'])(
    'H08 50 submits of one %s at once: one is taken, the others are told so',
    async (type) => {
      const { agent, runs, requests, say } = rig([{ tool_calls: [email()] }], { checkpointer: make() });
      await say('go');
      const chat = new ReviewedChatUseCase(agent);
      const submits = Array.from({ length: 50 }, () => chat.submitReview([{ type }], 'thread'));
      const outcomes = await Promise.allSettled(submits);
      const refused = outcomes.flatMap((o) => (o.status === 'rejected' ? [o.reason] : []));
      expect(refused).toHaveLength(49);
      for (const error of refused) expect(error).toBeInstanceOf(DomainError);
      expect(runs).toHaveLength(type === 'approve' ? 1 : 0);
      expect(requests).toHaveLength(2);
    },
  );

  test('a late double click does not answer the next review', async () => {
    const script = [{ tool_calls: [email()] }, { tool_calls: [email({ ...EMAIL, to: 'next@example.com' })] }];
    const { agent, runs, say } = rig(script, { checkpointer: make() });
    await say('go');
    const chat = new ReviewedChatUseCase(agent);
    await Promise.allSettled(Array.from({ length: 10 }, () => chat.submitReview(approve, 'thread')));
    expect(runs.map(({ args }) => args)).toEqual([EMAIL]);
  });

  test('while a turn runs another message or decision is refused with its own text', async () => {
    let letGo: () => void = () => {};
    const running = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { agent, say, decide, runs } = rig([{ tool_calls: [email()] }], {
      checkpointer: make(),
      onRun: () => running,
    });
    await say('go');
    const turn = decide(approve);
    await until(() => runs.length === 1);
    const chat = new ReviewedChatUseCase(agent);
    await expect(chat.sendMessage('hello?', 'thread')).rejects.toThrow(TurnRunningError);
    await expect(chat.sendMessage('hello?', 'thread')).rejects.toThrow('Percakapan sedang diproses');
    await expect(chat.submitReview(approve, 'thread')).rejects.toThrow('Keputusan lain sedang diproses');
    letGo();
    expect((await turn).messages.at(-1)).toMatchObject({ content: 'Done.' });
    expect(runs).toHaveLength(1);
  });

  test('a slow tool does not lose its thread: the hold is renewed while it runs', async () => {
    const checkpointer = make();
    let letGo: () => void = () => {};
    const running = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { agent, say, decide, runs } = rig([{ tool_calls: [email()] }], {
      checkpointer,
      holdMs: 600,
      onRun: () => running,
    });
    await say('go');
    const turn = decide(approve);
    await until(() => runs.length === 1);
    const revisions = new Set<string>();
    await until(async () => revisions.add((await checkpointer.load('thread'))?.revision ?? '').size > 6);
    await expect(agent.invoke(null, { configurable: { thread_id: 'thread' } })).rejects.toThrow(
      TurnRunningError,
    );
    letGo();
    await turn;
    expect(runs).toHaveLength(1);
  });

  test('H16 H01 P65 50 threads on one agent, random calls and decisions: each runs what was decided in it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(conversation, { minLength: 50, maxLength: 50 }), (plans) =>
        manyThreads(make(), plans),
      ),
      {
        numRuns: 4,
      },
    );
  });
});

type Choice = { type: 'approve' } | { type: 'reject'; message: string } | { type: 'edit'; to: string };
interface Turn {
  calls: { gated: boolean; text: string; id: string | null; choice: Choice }[];
}

const choice: fc.Arbitrary<Choice> = fc.oneof(
  fc.constant({ type: 'approve' as const }),
  fc.record({ type: fc.constant('reject' as const), message: fc.string({ maxLength: 5 }) }),
  fc.record({ type: fc.constant('edit' as const), to: fc.string({ maxLength: 5 }) }),
);
const call = fc.record({
  gated: fc.boolean(),
  text: fc.string({ maxLength: 5 }),
  id: fc.constantFrom(null, 'a', 'b'),
  choice,
});
const conversation: fc.Arbitrary<Turn[]> = fc.array(
  fc.record({ calls: fc.array(call, { minLength: 1, maxLength: 4 }) }),
  {
    maxLength: 3,
  },
);

/** All threads at once; then the record of each is compared with its own plan. */
async function manyThreads(checkpointer: Checkpointer, plans: Turn[][]): Promise<void> {
  const script = new Map(plans.map((turns, i) => [`t${i}`, [...turns]]));
  const model = ({ messages }: { messages: readonly ThreadMessage[] }): ModelReply => {
    requireAnswered(messages);
    const thread = String(messages[0]?.content);
    const turn = script.get(thread)?.shift();
    return turn
      ? { tool_calls: turn.calls.map((c, place) => proposed(thread, c, place)) }
      : { content: thread };
  };
  const { agent, runs } = rig([], { checkpointer, model });
  await Promise.all(
    plans.map(async (turns, i) => {
      const thread = `t${i}`;
      const config = { configurable: { thread_id: thread }, recursionLimit: 100 };
      let result = await agent.invoke({ messages: [thread] }, config);
      const asked = turns.filter(({ calls }) => calls.some(({ gated }) => gated));
      for (const { calls } of asked) {
        const gated = calls.filter((c) => c.gated);
        expect(result.__interrupt__?.[0].value.action_requests).toHaveLength(gated.length);
        const decisions = gated.map((c) => decision(thread, c));
        result = await agent.invoke(new Command({ resume: { decisions } }), config);
      }
      expect(result.__interrupt__).toBeUndefined();
      expect(result.messages.at(-1)).toMatchObject({ role: 'assistant', content: thread });
      expect(runsOf(runs, thread)).toEqual(turns.flatMap(({ calls }) => expectedRuns(thread, calls)));
    }),
  );
}

function proposed(thread: string, { gated, text, id }: Turn['calls'][number], place: number) {
  const args = { to: `${thread} ${text}`, subject: `${place}`, body: '' };
  return gated
    ? { ...email(args), id }
    : { id, name: 'get_weather', args: { location: `${thread} ${text}` } };
}

function decision(thread: string, { choice }: Turn['calls'][number]) {
  if (choice.type !== 'edit') return choice;
  return {
    type: 'edit',
    edited_action: { name: 'send_email', args: { ...EMAIL, to: `${thread} ${choice.to}` } },
  };
}

/** What a thread runs: what was shown and approved, or what the person wrote; free calls as they are. */
function expectedRuns(thread: string, calls: Turn['calls']): unknown[] {
  return calls.flatMap((c, place) => {
    if (c.gated && c.choice.type === 'reject') return [];
    if (c.gated && c.choice.type === 'edit') return [{ ...EMAIL, to: `${thread} ${c.choice.to}` }];
    return [proposed(thread, c, place).args];
  });
}

function runsOf(runs: Run[], thread: string): unknown[] {
  return runs.filter(({ threadId }) => threadId === thread).map(({ args }) => args);
}

/** Before every model call each tool call has exactly one result, behind its message and before the next one. */
function requireAnswered(messages: readonly ThreadMessage[]): void {
  messages.forEach((message, i) => {
    if (message.role !== 'assistant') return;
    const rest = messages.slice(i + 1);
    const end = rest.findIndex(({ role }) => role !== 'tool');
    const results = rest.slice(0, end === -1 ? rest.length : end);
    const answered = results.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : [])).sort();
    expect(answered).toEqual(message.tool_calls.map(({ id }) => id).sort());
  });
}
