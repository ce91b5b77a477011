import {
  ControlState,
  Mode,
  NO_CONTROL,
  Owner,
  type TaskBody,
  TaskInput,
  type TaskList,
  TaskMetadata,
  TaskStatus,
  Timestamp,
  TokenUsage,
  WorkflowId,
} from '@plangate/contracts';
import { z } from 'zod';
import { type Submission, toTaskInput } from './submission.ts';

/** Version of the stored shape. A record of another version is neither read nor written. */
export const RECORD_VERSION = 1;

/** A task as it is stored; validated whenever it is read. */
export const TaskRecord = z.object({
  task_id: WorkflowId,
  owner: Owner,
  query: z.string(),
  session_id: z.string(),
  /** What the caller gave and, after an approval, the plan, its conversation and its brief. */
  context: z.record(z.string(), z.unknown()),
  mode: Mode,
  kind: z.enum(['research', 'answer']),
  /** Null: nobody reviews the plan. */
  review: TaskInput.shape.review,
  /** What the workflow is started with. */
  input: TaskInput,
  status: TaskStatus,
  result: z.string(),
  error: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  completed_at: Timestamp.nullable(),
  /** `token` names the attempt that wrote the record; `confirmed` once the engine is known to have the run. */
  start: z.object({ token: z.string().min(1), confirmed: z.boolean() }),
  control: ControlState,
  /** What was last asked of the workflow; `control` shows it as soon as the workflow has recorded it. */
  wanted: z.enum(['', 'paused', 'running', 'cancelled']),
  model_used: z.string(),
  provider: z.string(),
  usage: TokenUsage,
  metadata: TaskMetadata,
});
export type TaskRecord = z.infer<typeof TaskRecord>;

/** What a list of tasks reads of a record: nothing large. */
export const TaskSummary = TaskRecord.pick({
  task_id: true,
  query: true,
  session_id: true,
  mode: true,
  kind: true,
  status: true,
  error: true,
  created_at: true,
  completed_at: true,
  usage: true,
});
export type TaskSummary = z.infer<typeof TaskSummary>;

export interface NewTask {
  submission: Submission;
  workflowId: WorkflowId;
  owner: Owner;
  /** The session that the caller named, or a new one. */
  sessionId: string;
  /** Names this attempt to start the task; only it may take the record back. */
  token: string;
  now: Date;
}

/** The record of a task that is not started yet: queued, its start not confirmed. */
export function newRecord(task: NewTask): TaskRecord {
  const { submission, workflowId, owner } = task;
  const input = toTaskInput(submission, workflowId, owner);
  const at = task.now.toISOString();
  return {
    task_id: workflowId,
    owner,
    query: input.query,
    session_id: task.sessionId,
    context: input.context,
    mode: submission.mode,
    kind: submission.kind,
    review: input.review,
    input,
    status: 'TASK_STATUS_QUEUED',
    result: '',
    error: null,
    created_at: at,
    updated_at: at,
    completed_at: null,
    start: { token: task.token, confirmed: false },
    control: NO_CONTROL,
    wanted: '',
    model_used: '',
    provider: '',
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, estimated_cost: 0 },
    metadata: {},
  };
}

/** Body of `GET /api/v1/tasks/{id}`; `error` and `error_message` are both there or both absent. */
export function toTaskBody(record: TaskRecord): TaskBody {
  return {
    task_id: record.task_id,
    workflow_id: record.task_id,
    status: record.status,
    result: record.result,
    ...(record.error === null ? {} : { error: record.error, error_message: record.error }),
    created_at: record.created_at,
    updated_at: record.updated_at,
    ...(record.completed_at === null ? {} : { completed_at: record.completed_at }),
    query: record.query,
    session_id: record.session_id,
    mode: record.mode,
    context: record.context,
    model_used: record.model_used,
    provider: record.provider,
    usage: record.usage,
    metadata: record.metadata,
  };
}

/** One item of `GET /api/v1/tasks`. */
export function toListItem(record: TaskSummary): TaskList['tasks'][number] {
  return {
    task_id: record.task_id,
    query: record.query,
    status: record.status,
    mode: record.mode,
    created_at: record.created_at,
    ...(record.completed_at === null ? {} : { completed_at: record.completed_at }),
    total_token_usage: {
      total_tokens: record.usage.total_tokens,
      cost_usd: record.usage.estimated_cost,
      prompt_tokens: record.usage.input_tokens,
      completion_tokens: record.usage.output_tokens,
    },
  };
}
