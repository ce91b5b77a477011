import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  HISTORY_LIMIT,
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
import {
  eventsOfTurn,
  toHistoryItem,
  toSessionBody,
  toSessionSummary,
  toTurn,
  workCounter,
} from '@plangate/tasks';
import type { GatewayParts } from '../parts.ts';
import { eventPages } from './all-events.ts';
import { answerBudget, type Spend } from './answer-budget.ts';
import { flag, queryOf, wholeNumber } from './request.ts';

/** What the turns of one answer hold at most. */
const TURNS = { events: 20_000, characters: 32 * 2 ** 20 };
/** What one answer of a history costs at most; its events are only counted. */
const HISTORY = { events: 200_000, characters: 32 * 2 ** 20 };
/** Tasks whose events are counted side by side. */
const AT_ONCE = 5;

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
      const query = queryOf(req);
      const limit = wholeNumber(query, 'limit', HISTORY_LIMIT);
      const offset = wholeNumber(query, 'offset', OFFSET);
      const ids = await taskIdsOf(req, id);
      const page = ids.slice(offset, offset + limit);
      const spend = answerBudget(HISTORY, historyTooLarge);
      const items: SessionHistory['tasks'] = [];
      for (let at = 0; at < page.length; at += AT_ONCE) {
        const read = page.slice(at, at + AT_ONCE).map((taskId) => historyItem(taskId, spend).catch(skip));
        items.push(...(await Promise.all(read)).filter((item) => item !== null));
      }
      sendJson(res, 200, { session_id: id, tasks: items, total: ids.length });
    },

    async events(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
      const query = queryOf(req);
      const limit = wholeNumber(query, 'limit', TURN_LIMIT);
      const offset = wholeNumber(query, 'offset', OFFSET);
      const includePayload = flag(query, 'include_payload');
      const ids = await taskIdsOf(req, id);
      const spend = answerBudget(TURNS, tooManyEvents);
      const turns: SessionEvents['turns'] = [];
      for (const [at, taskId] of ids.slice(offset, offset + limit).entries()) {
        const shown = { turn: offset + at + 1, includePayload };
        const turn = await turnOf(taskId, shown, spend).catch(skip);
        if (turn) turns.push(turn);
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

  async function historyItem(
    taskId: WorkflowId,
    spend: Spend,
  ): Promise<SessionHistory['tasks'][number] | null> {
    const record = await tasks.load(taskId);
    if (!record) return null;
    spend({ characters: record.query.length + record.result.length });
    const work = workCounter();
    for await (const page of eventPages(events, taskId)) {
      spend({ events: page.length });
      work.add(page);
    }
    return toHistoryItem(record, work.counts());
  }

  async function turnOf(
    taskId: WorkflowId,
    { turn, includePayload }: { turn: number; includePayload: boolean },
    spend: Spend,
  ): Promise<SessionEvents['turns'][number] | null> {
    const record = await tasks.load(taskId);
    if (!record) return null;
    spend({ characters: record.query.length + record.result.length });
    const log: WorkflowEvent[] = [];
    for await (const page of eventPages(events, taskId)) {
      const shown = eventsOfTurn(page, { includePayload });
      spend({ events: page.length, characters: JSON.stringify(shown).length });
      log.push(...shown);
    }
    return toTurn(turn, record, log, new Date());
  }
}

/** A task that cannot be read must not take its session away; a read of it alone says what it is. */
function skip(error: unknown): null {
  if (isUnreadable(error)) return null;
  throw error;
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
    fields: { limit: TURNS.events, limit_characters: TURNS.characters },
  });
}

function historyTooLarge(): HttpError {
  const message = 'History is too large for one answer; ask for parts of it with limit and offset';
  return new HttpError(413, 'history_too_large', message, {
    fields: { limit: HISTORY.characters, limit_events: HISTORY.events },
  });
}
