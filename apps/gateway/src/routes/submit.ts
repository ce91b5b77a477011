import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StreamTaskAnswer, SubmitTaskAnswer } from '@plangate/contracts';
import {
  fromRefusal,
  noteWorkflow,
  principalOf,
  readJsonObject,
  sendJson,
  TASK_BODY_LIMIT_BYTES,
} from '@plangate/http';
import { readSubmission, type TaskRecord } from '@plangate/tasks';
import type { z } from 'zod';
import type { GatewayParts } from '../parts.ts';
import { startTask } from '../start-task.ts';

/** `POST /api/v1/tasks` and `POST /api/v1/tasks/stream` (contract/plan-review.md §1). */
export function submitRoutes(parts: GatewayParts) {
  const { review } = parts.settings;
  const limits = {
    defaultTimeoutSeconds: review.default_timeout_seconds,
    maxTimeoutSeconds: review.max_timeout_seconds,
    maxRounds: review.max_rounds,
  };

  async function submit(req: IncomingMessage): Promise<TaskRecord> {
    const body = await readJsonObject(req, { limitBytes: TASK_BODY_LIMIT_BYTES });
    const read = readSubmission(body, limits, parts.presets);
    if (!read.ok) throw fromRefusal(read);
    const started = await parts.work.keep(startTask(parts, read.submission, principalOf(req).owner));
    if (!started.ok) throw fromRefusal(started);
    noteWorkflow(req, started.record.task_id);
    return started.record;
  }

  return {
    async submitTask(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const record = await submit(req);
      const answer: z.infer<typeof SubmitTaskAnswer> = {
        task_id: record.task_id,
        status: 'STATUS_CODE_OK',
        message: `Task submitted successfully. Session: ${record.session_id}`,
        created_at: record.created_at,
        workflow_id: record.task_id,
        session_id: record.session_id,
      };
      sendJson(res, 200, answer, headersOf(record));
    },

    async submitAndStream(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const record = await submit(req);
      const stream_url = streamUrl(record.task_id);
      const answer: z.infer<typeof StreamTaskAnswer> = {
        workflow_id: record.task_id,
        task_id: record.task_id,
        stream_url,
      };
      sendJson(res, 201, answer, { ...headersOf(record), Link: `<${stream_url}>; rel="stream"` });
    },
  };
}

/** Where the events of a workflow are streamed. */
export function streamUrl(workflowId: string): string {
  return `/api/v1/stream/sse?workflow_id=${encodeURIComponent(workflowId)}`;
}

function headersOf(record: TaskRecord): Record<string, string> {
  return { 'X-Workflow-ID': record.task_id, 'X-Session-ID': record.session_id };
}
