import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parseWorkflowId, type WorkflowId } from '@plangate/contracts';
import { GATEWAY } from '@plangate/contracts/openapi';
import {
  answerError,
  authenticate,
  compose,
  cors,
  type ErrorMiddleware,
  errorHandler,
  logRequests,
  loopbackOnly,
  type Middleware,
  methodNotAllowed,
  noteWorkflow,
  notFound,
  openApi,
  requestId,
  routesOf,
} from '@plangate/http';
import express, { type Express } from 'express';
import type { GatewayParts } from './parts.ts';
import { controlRoutes } from './routes/control.ts';
import { healthRoutes } from './routes/health.ts';
import { idOf, sessionIdOf, undecodableId } from './routes/request.ts';
import { reviewActRoute } from './routes/review-act.ts';
import { reviewReadRoutes } from './routes/review-read.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { streamRoute } from './routes/stream.ts';
import { submitRoutes } from './routes/submit.ts';
import { taskRoutes } from './routes/tasks.ts';
import { OpenStreams } from './streams/open-streams.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type IdHandler = (req: IncomingMessage, res: ServerResponse, id: WorkflowId) => Promise<void>;

type LimitedHandler<A extends unknown[]> = (
  req: IncomingMessage,
  res: ServerResponse,
  ...more: A
) => Promise<void>;

export interface Gateway {
  /** For `http.createServer`. */
  handler: RequestListener;
  /** What it serves, such as `GET /api/v1/tasks/{id}`. */
  routes: string[];
  streams: OpenStreams;
}

/**
 * The gateway's HTTP API, built from its parts. Two routes are answered in front of Express, by the same functions:
 * the read of a review, which clients repeat all the time, and event streams, which stay open.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { settings, log } = parts;
  const streams = new OpenStreams({ tickMs: settings.events.ping_seconds * 1_000 });
  const { skip_auth, allowed_origins } = settings.gateway;
  const openToAll = skip_auth || allowed_origins.length === 0;
  const first = compose(
    requestId(),
    logRequests(log),
    cors({ origins: openToAll ? '*' : allowed_origins }),
    ...(skip_auth ? [loopbackOnly(allowed_origins)] : []),
  );
  const shared: Shared = {
    auth: authenticate(parts.authenticator),
    streamAuth: authenticate(parts.authenticator, { fromQuery: true }),
    review: reviewReadRoutes(parts),
    stream: streamRoute(parts, streams),
  };
  const { auth, streamAuth, review, stream } = shared;
  const app = createApp(parts, shared);

  const direct = (req: IncomingMessage): [Middleware, Handler] | null => {
    if (!isRead(req)) return null;
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    if (path === '/api/v1/stream/sse') return [streamAuth, stream];
    const id = parseWorkflowId(REVIEW.exec(path)?.[1]);
    if (!id) return null;
    return [
      auth,
      (req, res) => {
        noteWorkflow(req, id);
        return review.read(req, res, id);
      },
    ];
  };

  return {
    streams,
    routes: routesOf(app),
    handler(req, res) {
      const failed = (error: unknown) => answerError(log, error, req, res);
      void first(req, res, (error) => {
        if (error) return failed(error);
        const route = direct(req);
        if (!route) return app(req, res);
        const [authenticateFirst, handle] = route;
        void authenticateFirst(req, res, (refused) => {
          if (refused) failed(refused);
          else handle(req, res).catch(failed);
        });
      });
    },
  };
}

const REVIEW = /^\/api\/v1\/tasks\/([^/]+)\/review$/;

/** What answers in front of Express and in it. */
interface Shared {
  auth: Middleware;
  /** Takes the key from the query too: browsers cannot send headers with an event stream. */
  streamAuth: Middleware;
  review: ReturnType<typeof reviewReadRoutes>;
  stream: Handler;
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

type Handlers = Partial<Record<'get' | 'post' | 'patch' | 'delete', Handler>>;

function createApp(parts: GatewayParts, { auth, streamAuth, review, stream }: Shared): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const health = healthRoutes(parts);
  const submit = submitRoutes(parts);
  const tasks = taskRoutes(parts);
  const control = controlRoutes(parts);
  const sessions = sessionRoutes(parts);

  const route = (path: string, handlers: Handlers) => {
    for (const [method, handler] of Object.entries(handlers)) app[method as keyof Handlers](path, handler);
    app.route(path).all(methodNotAllowed(...Object.keys(handlers).map((method) => method.toUpperCase())));
  };
  /** Counted after auth and the check of an id. */
  const limited =
    <A extends unknown[]>(handler: LimitedHandler<A>): LimitedHandler<A> =>
    async (req, res, ...more) => {
      await parts.limit(req, res);
      await handler(req, res, ...more);
    };
  const task = (handler: IdHandler) => withId('task', handler);
  const reviewed = (handler: IdHandler) => withId('workflow', handler);

  route('/health', { get: health.health });
  route('/readiness', { get: health.readiness });
  route('/metrics', { get: health.metrics });
  route('/openapi.json', { get: openApi(GATEWAY, parts) });

  app.use('/api/v1', (req, res, next) => {
    return (isRead(req) && req.path.startsWith('/stream/') ? streamAuth : auth)(req, res, next);
  });
  route('/api/v1/stream/sse', { get: stream });
  route('/api/v1/tasks', { get: limited(tasks.list), post: limited(submit.submitTask) });
  route('/api/v1/tasks/stream', { post: limited(submit.submitAndStream) });
  route('/api/v1/tasks/:id', { get: task(tasks.read) });
  route('/api/v1/tasks/:id/events', { get: task(limited(tasks.readEvents)) });
  route('/api/v1/tasks/:id/timeline', { get: task(limited(tasks.timeline)) });
  route('/api/v1/tasks/:id/stream', { get: task(limited(tasks.redirectToStream)) });
  route('/api/v1/tasks/:id/control-state', { get: task(limited(tasks.controlState)) });
  route('/api/v1/tasks/:id/cancel', { post: task(limited(control.cancel)) });
  route('/api/v1/tasks/:id/pause', { post: task(limited(control.pause)) });
  route('/api/v1/tasks/:id/resume', { post: task(limited(control.resume)) });
  route('/api/v1/tasks/:id/review', {
    get: reviewed(review.read),
    post: reviewed(limited(reviewActRoute(parts))),
  });
  route('/api/v1/tasks/:id/review/versions', { get: reviewed(limited(review.versions)) });
  route('/api/v1/tasks/:id/review/diff', { get: reviewed(limited(review.diff)) });
  route('/api/v1/tasks/:id/review/audit', { get: reviewed(limited(review.audit)) });

  route('/api/v1/sessions', { get: limited(sessions.list) });
  route('/api/v1/sessions/:id', {
    get: ofSession(limited(sessions.read)),
    patch: ofSession(limited(sessions.rename)),
    delete: ofSession(limited(sessions.remove)),
  });
  route('/api/v1/sessions/:id/history', { get: ofSession(limited(sessions.history)) });
  route('/api/v1/sessions/:id/events', { get: ofSession(limited(sessions.events)) });

  app.use(notFound);
  const answer = errorHandler(parts.log);
  app.use(((error, req, res, next) => answer(undecodableId(error, req), req, res, next)) as ErrorMiddleware);
  return app;
}

function withId(kind: 'task' | 'workflow', handler: IdHandler): Handler {
  return async (req, res) => {
    const { params } = req as { params?: { id?: string } };
    await handler(req, res, idOf(req, params?.id, kind));
  };
}

function ofSession(
  handler: (req: IncomingMessage, res: ServerResponse, id: string) => Promise<void>,
): Handler {
  return async (req, res) => {
    const { params } = req as { params?: { id?: string } };
    await handler(req, res, sessionIdOf(params?.id));
  };
}
