import type { WorkflowEvent } from '@plangate/contracts';
import { expect } from 'vitest';
import type { Answer, Client } from './client.ts';
import { type Frame, readStream } from './sse.ts';

/** Sections of `plangate.yaml` that let the sweep look after lost runs in seconds instead of minutes. */
export const QUICK_SWEEP = `
sweep:
  interval_seconds: 1
  patience_seconds: 4
  overdue_seconds: 4
`;

export const TERMINAL = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED'];

/** Proves that the events of an ended task tell one story: seq without gaps, one end, nothing after it. */
export function expectToldOnce(events: WorkflowEvent[], end: string): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => TERMINAL.includes(type))).toEqual([end]);
  expect(types.slice(-2)).toEqual([end, 'STREAM_END']);
  for (const type of ONCE) expect([type, types.filter((t) => t === type).length <= 1]).toEqual([type, true]);
}
const ONCE = [
  'WORKFLOW_STARTED',
  'RESEARCH_PLAN_READY',
  'RESEARCH_PLAN_APPROVED',
  'DELEGATION',
  'LLM_OUTPUT',
  'STREAM_END',
];

/** Proves that an approved task ended with its report, once. */
export async function expectResearchedOnce(client: Client, id: string): Promise<void> {
  const task = await client.ended(id);
  expect([task.status, task.error]).toEqual(['TASK_STATUS_COMPLETED', undefined]);
  expect(task.result).toContain('[1]');
  const events = await client.events(id);
  expectToldOnce(events, 'WORKFLOW_COMPLETED');
  const types = events.map(({ type }) => type);
  const once = ['RESEARCH_PLAN_APPROVED', 'DELEGATION', 'LLM_OUTPUT'];
  expect(types.filter((type) => once.includes(type))).toEqual(once);
}

/** Within this many milliseconds everything answers, whatever is away (`contract/plan-review.md` §6: 2 s and the way). */
const IN_TIME_MS = 2_500;
/** A busy machine makes an answer late now and then; one that waits for what is away is late each time. */
const TRIES = 5;

/** A 503 as the contract wants it: in time, with `Retry-After`. */
export function expectAway(timed: Timed, error: string): void {
  const { answer } = timed;
  expect([answer.status, answer.json?.error]).toEqual([503, error]);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expectInTime(timed);
}

export function expectInTime({ ms }: Timed): void {
  expect(ms).toBeLessThan(IN_TIME_MS);
}

export interface Timed {
  /** The first one: what is asked again after it may find something else. */
  answer: Answer;
  /** How long the answer took, in milliseconds: where it was late, the shortest of some. */
  ms: number;
}

/** How long an answer takes. What is asked must be such that it may be asked again. */
export async function timed(ask: () => Promise<Answer>): Promise<Timed> {
  const once = async () => {
    const began = performance.now();
    return { answer: await ask(), ms: Math.round(performance.now() - began) };
  };
  const first = await once();
  let { ms } = first;
  for (let tries = 1; ms >= IN_TIME_MS && tries < TRIES; tries += 1) ms = Math.min(ms, (await once()).ms);
  return { answer: first.answer, ms };
}

/** A client of an event stream that comes back after every break, as EventSource does. */
export interface Follower {
  /** All frames over all connections. */
  frames: Frame[];
  /** The events among them, as JSON. */
  events(): { seq: number; type: string }[];
  connections(): number;
  /** Resolves with the `done` frame. */
  done: Promise<void>;
  stop(): void;
}

/** Follows a workflow until its `done`, resuming strictly after the last id that it has seen. */
export function followStream(gatewayUrl: string, id: string): Follower {
  const frames: Frame[] = [];
  let connections = 0;
  let stopped = false;
  let reader: ReturnType<typeof readStream> | undefined;
  const done = (async () => {
    while (!stopped) {
      const last = frames.findLast((frame) => frame.id !== undefined)?.id;
      connections += 1;
      reader = readStream(gatewayUrl, id, {
        headers: last === undefined ? {} : { 'Last-Event-ID': last },
        onFrame: (frame) => frames.push(frame),
      });
      await reader.ended;
      if (frames.at(-1)?.event === 'done') return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    frames,
    events: () => frames.filter(({ data }) => data.startsWith('{')).map(({ data }) => JSON.parse(data)),
    connections: () => connections,
    done,
    stop() {
      stopped = true;
      reader?.close();
    },
  };
}
