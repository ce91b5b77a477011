import {
  type SessionBody,
  type SessionEvents,
  type SessionHistory,
  type SessionSummary,
  Timestamp,
  type WorkflowEvent,
  withoutPrefix,
} from '@plangate/contracts';
import { z } from 'zod';
import type { TaskRecord } from './record.ts';
import type { SessionTotals } from './session-totals.ts';

/** How long after its last activity a session counts as active, in milliseconds. */
const ACTIVE_MS = 24 * 60 * 60 * 1_000;

/** A session as it is stored: what its tasks do not say themselves. */
export const SessionRecord = z.object({
  session_id: z.string(),
  user: z.string(),
  title: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** When its newest task was submitted. */
  last_activity_at: Timestamp,
});
export type SessionRecord = z.infer<typeof SessionRecord>;

/** A session and what its tasks come to; a session without tasks does not exist. */
export interface SessionWithTotals {
  session: SessionRecord;
  totals: SessionTotals;
}

/** One entry of `GET /api/v1/sessions`. */
export function toSessionSummary({ session, totals }: SessionWithTotals, now: Date): SessionSummary {
  const { latest } = totals;
  const lastActivity = lastActivityOf({ session, totals });
  return {
    session_id: session.session_id,
    user_id: session.user,
    title: session.title,
    task_count: totals.tasks,
    tokens_used: totals.tokens,
    created_at: session.created_at,
    updated_at: later(session.updated_at, lastActivity),
    last_activity_at: lastActivity,
    is_active: totals.isRunning || now.getTime() - Date.parse(lastActivity) < ACTIVE_MS,
    is_research_session: totals.first?.kind === 'research',
    latest_task_query: latest?.query ?? '',
    latest_task_status: withoutPrefix(latest?.status ?? 'TASK_STATUS_QUEUED'),
    successful_tasks: totals.successful,
    failed_tasks: totals.failed,
    total_cost_usd: totals.cost,
  };
}

/**
 * Body of `GET /api/v1/sessions/{id}`.
 * @param first the session's first task, which says what kind of session it is
 */
export function toSessionBody({ session, totals }: SessionWithTotals, first: TaskRecord | null): SessionBody {
  const isResearch = first?.kind === 'research';
  return {
    session_id: session.session_id,
    user_id: session.user,
    title: session.title,
    tokens_used: totals.tokens,
    cost_usd: totals.cost,
    task_count: totals.tasks,
    created_at: session.created_at,
    updated_at: later(session.updated_at, lastActivityOf({ session, totals })),
    is_research_session: isResearch,
    research_strategy: isResearch ? first.input.strategy_name : '',
  };
}

/** What the events of a task tell of its work. */
export interface WorkCounts {
  agents: number;
  tools: number;
}

/** Counts work over the events of a task, which come page by page, so that none has to be kept. */
export function workCounter(): { add(events: readonly WorkflowEvent[]): void; counts(): WorkCounts } {
  const agents = new Set<string>();
  let tools = 0;
  return {
    add(events) {
      for (const { agent_id } of ofType(events, 'AGENT_STARTED')) agents.add(agent_id);
      tools += ofType(events, 'TOOL_INVOKED').length;
    },
    counts: () => ({ agents: agents.size, tools }),
  };
}

/** One entry of `GET /api/v1/sessions/{id}/history`. */
export function toHistoryItem(record: TaskRecord, work: WorkCounts): SessionHistory['tasks'][number] {
  return {
    task_id: record.task_id,
    workflow_id: record.task_id,
    query: record.query,
    status: withoutPrefix(record.status),
    result: record.result,
    error_message: record.error ?? '',
    total_tokens: record.usage.total_tokens,
    total_cost_usd: record.usage.estimated_cost,
    started_at: record.created_at,
    completed_at: record.completed_at ?? '',
    agents_used: work.agents,
    tools_invoked: work.tools,
  };
}

/** What a turn shows of these events: no piece of an answer that was streamed, as the whole of it follows them. */
export function eventsOfTurn(
  events: readonly WorkflowEvent[],
  { includePayload }: { includePayload: boolean },
): WorkflowEvent[] {
  const whole = events.filter(({ type }) => type !== 'LLM_PARTIAL');
  return includePayload ? whole : whole.map(({ payload: _, ...event }) => event);
}

/**
 * One turn of `GET /api/v1/sessions/{id}/events`: what was asked, what happened, what came out.
 * @param turn its number, from 1
 * @param events what {@link eventsOfTurn} shows of them
 */
export function toTurn(
  turn: number,
  record: TaskRecord,
  events: WorkflowEvent[],
  now: Date,
): SessionEvents['turns'][number] {
  const end = Date.parse(record.completed_at ?? now.toISOString());
  return {
    turn,
    task_id: record.task_id,
    user_query: record.query,
    // A report stands in the events a moment before the end of its task holds it.
    final_output: record.result || (ofType(events, 'LLM_OUTPUT')[0]?.message ?? ''),
    timestamp: record.created_at,
    events,
    metadata: {
      status: withoutPrefix(record.status),
      tokens_used: record.usage.total_tokens,
      cost_usd: record.usage.estimated_cost,
      execution_time_ms: Math.max(0, end - Date.parse(record.created_at)),
      agents_involved: [...new Set(events.map(({ agent_id }) => agent_id))].filter(Boolean).sort(),
    },
  };
}

/** The last thing that happened: a task came in or ended. */
function lastActivityOf({ session, totals }: SessionWithTotals): string {
  return totals.lastEnd === '' ? session.last_activity_at : later(session.last_activity_at, totals.lastEnd);
}

function later(a: string, b: string): string {
  return Date.parse(a) >= Date.parse(b) ? a : b;
}

function ofType(events: readonly WorkflowEvent[], wanted: WorkflowEvent['type']): WorkflowEvent[] {
  return events.filter(({ type }) => type === wanted);
}
