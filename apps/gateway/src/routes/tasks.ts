import type { IncomingMessage, ServerResponse } from 'node:http';
import { EVENT_LIMIT, OFFSET, TASK_LIMIT, TaskStatus, type WorkflowId } from '@plangate/contracts';
import { HttpError, principalOf, sendJson } from '@plangate/http';
import { toListItem, toTaskBody } from '@plangate/tasks';
import type { GatewayParts } from '../parts.ts';
import { allEvents } from './all-events.ts';
import { loadOwnTask, requireOwnTask } from './own-task.ts';
import { queryOf, sessionIdOf, wholeNumber } from './request.ts';
import { streamUrl } from './submit.ts';

const PREFIX = 'TASK_STATUS_';

/** The reading routes of tasks (contract/plan-review.md §1). */
export function taskRoutes({ tasks, events }: GatewayParts) {
  return {
    async list(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const query = queryOf(req);
      const limit = wholeNumber(query, 'limit', TASK_LIMIT);
      const offset = offsetOf(query);
      const status = statusOf(query);
      const sessionId = sessionOf(query);
      const { records, totalCount } = await tasks.listByOwner(principalOf(req).owner, {
        limit,
        offset,
        ...(status === undefined ? {} : { status }),
        ...(sessionId === undefined ? {} : { sessionId }),
      });
      sendJson(res, 200, { tasks: records.map(toListItem), total_count: totalCount });
    },

    async read(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const record = await loadOwnTask(tasks, req, id);
      sendJson(res, 200, toTaskBody(record), { 'X-Workflow-ID': id });
    },

    async readEvents(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const query = queryOf(req);
      const limit = wholeNumber(query, 'limit', EVENT_LIMIT);
      const offset = offsetOf(query);
      await requireOwnTask(tasks, req, id);
      const page = await events.readPage(id, { limit, offset });
      sendJson(res, 200, { events: page, count: page.length });
    },

    async timeline(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      await requireOwnTask(tasks, req, id);
      sendJson(res, 200, { workflow_id: id, events: await allEvents(events, id) });
    },

    async redirectToStream(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      await requireOwnTask(tasks, req, id);
      const query = queryOf(req);
      const more = ['types', 'last_event_id'].flatMap((name) => {
        const value = query.get(name);
        return value === null ? [] : [`&${name}=${encodeURIComponent(value)}`];
      });
      res.statusCode = 307;
      res.setHeader('Location', `${streamUrl(id)}${more.join('')}`);
      res.setHeader('Content-Length', 0);
      res.end();
    },

    async controlState(req: IncomingMessage, res: ServerResponse, id: WorkflowId): Promise<void> {
      const { control } = await loadOwnTask(tasks, req, id);
      sendJson(res, 200, control);
    },
  };
}

function offsetOf(query: URLSearchParams): number {
  return wholeNumber(query, 'offset', OFFSET);
}

/** The filter takes any case, with or without the prefix. */
function statusOf(query: URLSearchParams): TaskStatus | undefined {
  const text = query.get('status')?.toUpperCase();
  if (text === undefined) return undefined;
  const status = TaskStatus.safeParse(text.startsWith(PREFIX) ? text : `${PREFIX}${text}`);
  if (!status.success) throw new HttpError(400, 'invalid_status', 'Invalid status value');
  return status.data;
}

function sessionOf(query: URLSearchParams): string | undefined {
  const text = query.get('session_id');
  return text === null ? undefined : sessionIdOf(text);
}
