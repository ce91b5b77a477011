import { z } from 'zod';
import { isEnded } from './control.ts';
import type { TaskSummary } from './record.ts';

/**
 * How long after its end the numbers of a task may still change, in milliseconds: a model call that was under way at
 * the end is counted when it comes back, and none lasts that long.
 */
const MOVES_MS = 10 * 60 * 1_000;

/** Sums over tasks whose numbers do not change any more, so that none of them has to be read again. */
export const SessionSums = z.object({
  tasks: z.coerce.number().int().nonnegative().default(0),
  successful: z.coerce.number().int().nonnegative().default(0),
  failed: z.coerce.number().int().nonnegative().default(0),
  tokens: z.coerce.number().nonnegative().default(0),
  cost: z.coerce.number().nonnegative().default(0),
  /** When the last of them ended, `""` where there is none. */
  last_end: z.string().default(''),
});
export type SessionSums = z.infer<typeof SessionSums>;

/** What the tasks of a session come to. */
export interface SessionTotals {
  tasks: number;
  successful: number;
  failed: number;
  tokens: number;
  cost: number;
  /** RFC 3339; `""` while none has ended. */
  lastEnd: string;
  /** One of them has no end yet. */
  isRunning: boolean;
  first: TaskSummary | null;
  latest: TaskSummary | null;
}

/** The sums, and what the tasks add that are not in them. */
export function totalsOf(
  sums: SessionSums,
  rest: readonly TaskSummary[],
): Omit<SessionTotals, 'first' | 'latest'> {
  const all = rest.map(shareOf);
  return {
    tasks: sums.tasks + all.length,
    successful: sums.successful + sum(all, ({ successful }) => successful),
    failed: sums.failed + sum(all, ({ failed }) => failed),
    tokens: sums.tokens + sum(all, ({ tokens }) => tokens),
    cost: sums.cost + sum(all, ({ cost }) => cost),
    lastEnd: [sums.last_end, ...all.map(({ end }) => end)].sort().at(-1) ?? '',
    isRunning: rest.some(({ status }) => !isEnded(status)),
  };
}

/** What one task adds to its session. */
export interface Share {
  successful: number;
  failed: number;
  tokens: number;
  cost: number;
  /** RFC 3339 in UTC, as all times in records, so that text compares as time does; `""` before the end. */
  end: string;
}

export function shareOf({ status, usage, completed_at }: TaskSummary): Share {
  return {
    successful: Number(status === 'TASK_STATUS_COMPLETED'),
    failed: Number(status === 'TASK_STATUS_FAILED'),
    tokens: usage.total_tokens,
    cost: usage.estimated_cost,
    end: completed_at ?? '',
  };
}

/**
 * True for a task whose numbers do not change any more.
 * @param now ms since 1970, on the clock of the records
 */
export function standsStill({ completed_at }: TaskSummary, now: number): boolean {
  return completed_at !== null && Date.parse(completed_at) < now - MOVES_MS;
}

function sum<T>(entries: readonly T[], value: (entry: T) => number): number {
  return entries.reduce((total, entry) => total + value(entry), 0);
}
