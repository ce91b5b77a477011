import { z } from 'zod';
import { WorkflowEvent } from './events.ts';
import { TaskStatus } from './tasks.ts';
import { cleanText, codePoints, isBlank } from './text.ts';

const TITLE_LIMIT = 60;
const STATUS_PREFIX = 'TASK_STATUS_';

type WithoutPrefix<Status> = Status extends `${typeof STATUS_PREFIX}${infer Rest}` ? Rest : never;

/** Status of a task as sessions show it: without the prefix (`contract/plan-review.md` §1). */
export const SessionTaskStatus = z.enum(
  TaskStatus.options.map((status) => withoutPrefix(status)) as WithoutPrefix<TaskStatus>[],
);

/** `COMPLETED` of `TASK_STATUS_COMPLETED`. */
export function withoutPrefix(status: TaskStatus): WithoutPrefix<TaskStatus> {
  return status.slice(STATUS_PREFIX.length) as WithoutPrefix<TaskStatus>;
}

/** One entry of `GET /api/v1/sessions`. */
export const SessionSummary = z.object({
  session_id: z.string(),
  user_id: z.string(),
  title: z.string(),
  task_count: z.int(),
  tokens_used: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_activity_at: z.iso.datetime(),
  /** A task is not over, or something happened in the last 24 hours. */
  is_active: z.boolean(),
  /** Its first task is a research task. */
  is_research_session: z.boolean(),
  latest_task_query: z.string(),
  latest_task_status: SessionTaskStatus,
  successful_tasks: z.int(),
  failed_tasks: z.int(),
  total_cost_usd: z.number(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** Body of `GET /api/v1/sessions`. */
export const SessionList = z.object({ sessions: z.array(SessionSummary), total_count: z.int() });

/** Body of `GET /api/v1/sessions/{id}`. */
export const SessionBody = z.object({
  session_id: z.string(),
  user_id: z.string(),
  title: z.string(),
  tokens_used: z.int(),
  cost_usd: z.number(),
  task_count: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  is_research_session: z.boolean(),
  /** Strategy of the first task, `""` where that is not research. */
  research_strategy: z.string(),
});
export type SessionBody = z.infer<typeof SessionBody>;

/** Body of `GET /api/v1/sessions/{id}/history`: oldest first, all tasks or a page of them. */
export const SessionHistory = z.object({
  session_id: z.string(),
  tasks: z.array(
    z.object({
      task_id: z.string(),
      workflow_id: z.string(),
      query: z.string(),
      status: SessionTaskStatus,
      result: z.string(),
      error_message: z.string(),
      total_tokens: z.int(),
      total_cost_usd: z.number(),
      started_at: z.iso.datetime(),
      /** `""` while the task is not over. */
      completed_at: z.union([z.iso.datetime(), z.literal('')]),
      /** As the events tell it: 0 once they are no longer kept. */
      agents_used: z.int(),
      tools_invoked: z.int(),
    }),
  ),
  /** All tasks of the session, not only those of this page. */
  total: z.int(),
});
export type SessionHistory = z.infer<typeof SessionHistory>;

/** Body of `GET /api/v1/sessions/{id}/events`; a turn is a task with what happened in it. */
export const SessionEvents = z.object({
  session_id: z.string(),
  /** All turns of the session, not only those of this page. */
  count: z.int(),
  turns: z.array(
    z.object({
      /** From 1, oldest first. */
      turn: z.int().positive(),
      task_id: z.string(),
      user_query: z.string(),
      /** `""` while there is none. */
      final_output: z.string(),
      timestamp: z.iso.datetime(),
      events: z.array(WorkflowEvent),
      metadata: z.object({
        status: SessionTaskStatus,
        tokens_used: z.int(),
        cost_usd: z.number(),
        execution_time_ms: z.int(),
        agents_involved: z.array(z.string()),
      }),
    }),
  ),
});
export type SessionEvents = z.infer<typeof SessionEvents>;

/** Body of `PATCH /api/v1/sessions/{id}`; a title is one line. */
export const SessionTitleBody = z.object(
  {
    title: z
      .string({ error: 'Invalid request body' })
      .transform((text) => cleanText(text).replace(/\s+/gu, ' ').trim())
      .refine((title) => !isBlank(title), { error: 'Title cannot be empty', abort: true })
      .refine((title) => codePoints(title) <= TITLE_LIMIT, { error: 'Title must be 60 characters or less' })
      .meta({ maxLength: TITLE_LIMIT }),
  },
  { error: 'Invalid request body' },
);
/** 200 of `PATCH /api/v1/sessions/{id}`. */
export const SessionTitleAnswer = z.object({ session_id: z.string(), title: z.string() });
