import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  OFFSET,
  SESSION_LIMIT,
  type SessionEvents,
  type SessionHistory,
  SessionTitleBody,
  TURN_LIMIT,
  type WorkflowEvent,
  type WorkflowId,
} from '@plangate/contracts';
import { HttpError, principalOf, readJsonObject, sendJson } from '@plangate/http';
import { isUnreadable } from '@plangate/redis';
import { type TaskRecord, toHistoryItem, toSessionBody, toSessionSummary, toTurn } from '@plangate/tasks';
import type { GatewayParts } from '../parts.ts';
import { allEvents } from './all-events.ts';
import { flag, queryOf, wholeNumber } from './request.ts';

/** Events of one answer; a single turn may have more. */
const MOST_EVENTS = 20_000;
/** Tasks whose events are read side by side. */
const AT_ONCE = 10;

/** The routes of sessions (contract/plan-review.md §1). Whose a session is says the credential, never the id. */
export function sessionRoutes({ sessions, tasks, events }: GatewayParts) {
  async function taskIdsOf(req: IncomingMessage, id: string): Promise<WorkflowId[]> {
    const ids = await sessions.taskIds(principalOf(req).owner, id);
    if (!ids) throw sessionNotFound();
    return ids;
  }

  return {
    async list(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const query = queryOf(req);
      const limit = wholeNumber(query, 'limit', SESSION_LIMIT);
      const offset = wholeNumber(query, 'offset', OFFSET);
      const page = await sessions.list(principalOf(req).owner, { limit, offset });
      const now = new Date();
      sendJson(res, 200, {
        sessions: page.sessions.map((session) => toSessionSummary(session, now)),
        total_count: page.totalCount,
      });
    },

    async read(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
      const session = await sessions.load(principalOf(req).owner, id);
      if (!session) throw sessionNotFound();
      const { first } = session.totals;
      sendJson(res, 200, toSessionBody(session, first ? await tasks.load(first.task_id) : null));
    },

    async history(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
      const items: SessionHistory['tasks'] = [];
      const ids = await taskIdsOf(req, id);
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        for (const [record, log] of await Promise.all(ids.slice(at, at + AT_ONCE).map(readTurn))) {
          if (record) items.push(toHistoryItem(record, log));
        }
      }
      sendJson(res, 200, { session_id: id, tasks: items, total: items.length });
    },

    async events(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
      const query = queryOf(req);
      const limit = wholeNumber(query, 'limit', TURN_LIMIT);
      const offset = wholeNumber(query, 'offset', OFFSET);
      const includePayload = flag(query, 'include_payload');
      const ids = await taskIdsOf(req, id);
      const turns: SessionEvents['turns'] = [];
      const shown = { includePayload, now: new Date() };
      let count = 0;
      for (const [at, taskId] of ids.slice(offset, offset + limit).entries()) {
        const [record, log] = await readTurn(taskId);
        count += log.length;
        if (at > 0 && count > MOST_EVENTS) throw tooManyEvents();
        if (record) turns.push(toTurn(offset + at + 1, record, log, shown));
      }
      sendJson(res, 200, { session_id: id, count: ids.length, turns });
    },

    async rename(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
      const title = await readTitle(req);
      if (!(await sessions.rename(principalOf(req).owner, id, title))) throw sessionNotFound();
      sendJson(res, 200, { session_id: id, title });
    },

    async remove(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
      await sessions.remove(principalOf(req).owner, id);
      res.statusCode = 204;
      res.end();
    },
  };

  /** A task that cannot be read must not take its session away; a read of it alone says what it is. */
  async function readTurn(taskId: WorkflowId): Promise<[TaskRecord | null, WorkflowEvent[]]> {
    try {
      return await Promise.all([tasks.load(taskId), allEvents(events, taskId)]);
    } catch (error) {
      if (isUnreadable(error)) return [null, []];
      throw error;
    }
  }
}

async function readTitle(req: IncomingMessage): Promise<string> {
  const parsed = SessionTitleBody.safeParse(await readJsonObject(req));
  if (parsed.success) return parsed.data.title;
  const [issue] = parsed.error.issues;
  if (issue?.code !== 'custom') throw new HttpError(400, 'invalid_body', 'Invalid request body');
  throw new HttpError(400, 'invalid_title', issue.message);
}

function sessionNotFound(): HttpError {
  return new HttpError(404, 'session_not_found', 'Session not found');
}

function tooManyEvents(): HttpError {
  return new HttpError(413, 'too_many_events', 'Too many events for one answer; ask for fewer turns', {
    fields: { limit: MOST_EVENTS },
  });
}
