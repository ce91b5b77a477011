import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StreamTaskAnswer, SubmitTaskAnswer } from '@plangate/contracts';
import {
  fromRefusal,
  noteWorkflow,
  principalOf,
  type Reply,
  readJsonObject,
  TASK_BODY_LIMIT_BYTES,
  type Ticket,
  traceOf,
} from '@plangate/http';
import { readSubmission, type TaskRecord } from '@plangate/tasks';
import type { z } from 'zod';
import type { GatewayParts } from '../parts.ts';
import { startTask } from '../start-task.ts';
import { answerPost } from './post.ts';

/** `POST /api/v1/tasks` and `POST /api/v1/tasks/stream` (contract/plan-review.md §1). */
export function submitRoutes(parts: GatewayParts) {
  const { review } = parts.settings;
  const limits = {
    defaultTimeoutSeconds: review.default_timeout_seconds,
    maxTimeoutSeconds: review.max_timeout_seconds,
    maxRounds: review.max_rounds,
  };

  async function submit(req: IncomingMessage, ticket: Ticket): Promise<TaskRecord> {
    const body = await readJsonObject(req, { limitBytes: TASK_BODY_LIMIT_BYTES });
    const read = readSubmission(body, limits, parts.presets);
    if (!read.ok) throw fromRefusal(read);
    const { owner } = principalOf(req);
    const started = await startTask(parts, read.submission, owner, ticket, traceOf(req));
    if (!started.ok) throw fromRefusal(started);
    noteWorkflow(req, started.record.task_id);
    return started.record;
  }

  function route(path: string, replyOf: (record: TaskRecord) => Reply) {
    const posted = { route: `POST ${path}`, limitBytes: TASK_BODY_LIMIT_BYTES };
    return (req: IncomingMessage, res: ServerResponse): Promise<void> =>
      answerPost(parts, req, res, posted, async (ticket) => replyOf(await submit(req, ticket)));
  }

  return {
    submitTask: route('/api/v1/tasks', submitted),
    submitAndStream: route('/api/v1/tasks/stream', submittedAndStreamed),
  };
}

function submitted(record: TaskRecord): Reply {
  const body: z.infer<typeof SubmitTaskAnswer> = {
    task_id: record.task_id,
    status: 'STATUS_CODE_OK',
    message: `Task submitted successfully. Session: ${record.session_id}`,
    created_at: record.created_at,
    workflow_id: record.task_id,
    session_id: record.session_id,
  };
  return { status: 200, body, headers: headersOf(record) };
}

function submittedAndStreamed(record: TaskRecord): Reply {
  const stream_url = streamUrl(record.task_id);
  const body: z.infer<typeof StreamTaskAnswer> = {
    workflow_id: record.task_id,
    task_id: record.task_id,
    stream_url,
  };
  return { status: 201, body, headers: { ...headersOf(record), Link: `<${stream_url}>; rel="stream"` } };
}

/** Where the events of a workflow are streamed. */
export function streamUrl(workflowId: string): string {
  return `/api/v1/stream/sse?workflow_id=${encodeURIComponent(workflowId)}`;
}

function headersOf(record: TaskRecord): Record<string, string> {
  return { 'X-Workflow-ID': record.task_id, 'X-Session-ID': record.session_id };
}
