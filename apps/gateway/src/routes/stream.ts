import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { parseWorkflowId, sameOwner, type WorkflowId } from '@plangate/contracts';
import { CONNECTED, type Cursor, parseCursor, typeFilter } from '@plangate/events';
import { HttpError, noteWorkflow, principalOf } from '@plangate/http';
import { keysOf } from '@plangate/redis';
import type { GatewayParts } from '../parts.ts';
import { bodyPart } from '../streams/body-part.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import { EventStream } from '../streams/stream.ts';
import { queryOf } from './request.ts';

/**
 * What a reader of a log that is no longer kept gets instead of waiting for ever. It has an id like every `done`: an
 * EventSource that is left open comes back with it, and is told 204.
 */
const DONE = 'id: 0-0\nevent: done\ndata: [DONE]\n\n';

/** `GET /api/v1/stream/sse` (contract/plan-review.md §3). */
export function streamRoute(parts: GatewayParts, streams: OpenStreams) {
  const { events, hub, settings } = parts;

  /** Whether all that there was has been read: by the id of `done`, or because the log is gone after the end. */
  async function lookAtEnd(id: WorkflowId): Promise<{ doneId: string | null; gone: boolean }> {
    const [bounds, [record]] = await Promise.all([events.bounds(id), parts.tasks.openStates([id])]);
    const ended = record?.state === 'read' && record.ended;
    return { doneId: bounds?.end?.stream_id ?? null, gone: ended && bounds === null };
  }

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const request = readRequest(req);
    noteWorkflow(req, request.workflowId);
    const { owner } = principalOf(req);
    if (!sameOwner(await parts.tasks.loadOwner(request.workflowId), owner)) {
      throw new HttpError(404, 'task_not_found', 'Task not found');
    }
    const end = await lookAtEnd(request.workflowId);
    if (request.header !== null && request.header !== request.query) {
      if (request.header === end.doneId || (end.gone && parseCursor(request.header))) {
        res.statusCode = 204;
        res.end();
        return;
      }
    }
    if (req.method === 'HEAD') {
      sendHead(res);
      res.end();
      return;
    }
    const socket = await socketOf(res);
    if (!socket) return;
    const most = settings.gateway.skip_auth ? Number.POSITIVE_INFINITY : settings.events.streams_per_user;
    const leave = streams.reserve(owner, most);
    if (!leave) {
      throw new HttpError(429, 'too_many_streams', 'Too many open streams', {
        headers: { 'Retry-After': '5' },
      });
    }
    res.once('close', leave);
    sendHead(res);
    socket.setKeepAlive(true);
    socket.write(bodyPart(res, CONNECTED(request.workflowId)));
    if (end.gone) {
      socket.write(bodyPart(res, DONE));
      res.end();
      return;
    }
    const stream = new EventStream(res, socket, {
      workflowId: request.workflowId,
      after: request.after,
      wants: typeFilter(request.types),
      hub,
      onLost: (error) =>
        parts.log.error({ workflow_id: request.workflowId, err: error, keys: keysOf(error) }, 'stream lost'),
      onClosed: () => streams.remove(stream),
    });
    streams.add(stream);
    if (parts.stopping.aborted) stream.breakOff();
  };
}

/** The connection to write on; null where the client has gone meanwhile. */
async function socketOf(res: ServerResponse): Promise<Socket | null> {
  if (res.closed) return null;
  // A pipelined request has no socket before the answers in front of it are sent.
  if (!res.socket) await once(res, 'socket');
  return res.socket && !res.socket.destroyed ? res.socket : null;
}

interface StreamRequest {
  workflowId: WorkflowId;
  types: string;
  /** `Last-Event-ID` as it was sent, null where it is absent. */
  header: string | null;
  /** `last_event_id` of the query. */
  query: string | null;
  after: Cursor;
}

/** The header wins; a malformed one means a full replay, a malformed query is an error. */
function readRequest(req: IncomingMessage): StreamRequest {
  const query = queryOf(req);
  const workflowId = parseWorkflowId(query.get('workflow_id'));
  if (!workflowId) throw new HttpError(400, 'invalid_workflow_id', 'Invalid or missing workflow_id');
  const asked = query.get('last_event_id') || null;
  const fromQuery = asked === null ? null : parseCursor(asked);
  if (asked !== null && !fromQuery)
    throw new HttpError(400, 'invalid_last_event_id', 'Invalid last_event_id');
  const sent = req.headers['last-event-id'];
  const header = typeof sent === 'string' && sent !== '' ? sent : null;
  const after = (header === null ? fromQuery : parseCursor(header)) ?? { kind: 'start' };
  return { workflowId, types: query.get('types') ?? '', header, query: asked, after };
}

/**
 * The body is chunked, so that a connection which ends without the last chunk, because the process was killed, is no
 * clean end for any client. HTTP/1.0 has no chunks: there the body ends with the connection.
 */
function sendHead(res: ServerResponse): void {
  res.statusCode = 200;
  res.setHeader('Content-Type', 'text/event-stream');
  res.setHeader('Cache-Control', 'no-cache, no-transform');
  res.setHeader('X-Accel-Buffering', 'no');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Connection', 'close');
  res.useChunkedEncodingByDefault = false;
  if (res.req.httpVersion === '1.1') res.setHeader('Transfer-Encoding', 'chunked');
  res.flushHeaders();
}
