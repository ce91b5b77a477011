import { APPROVAL_AGENT } from '@plangate/contracts/openapi';
import {
  authenticate,
  compose,
  cors,
  health,
  logRequests,
  loopbackOnly,
  openApi,
  readiness,
  requestId,
} from '@plangate/http';
import express, { type Express, type RequestHandler } from 'express';
import { detailErrors, notFound, otherMethods } from './errors.ts';
import type { AgentParts } from './parts.ts';
import { chatRoute } from './routes/chat.ts';
import { metricsRoute } from './routes/metrics.ts';
import { reviewRoute } from './routes/review.ts';
import { threadRoutes } from './routes/threads.ts';

/** The HTTP API of `contract/tool-approval.md §1`, built from its parts. */
export function createApp(parts: AgentParts): Express {
  const { settings, log, version, checks } = parts;
  const { skip_auth, allowed_origins } = settings;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const openToAll = skip_auth || allowed_origins.length === 0;
  app.use(
    compose(
      requestId(),
      logRequests(log),
      cors({ origins: openToAll ? '*' : allowed_origins, expose: ['X-Review-Id'] }),
      ...(skip_auth ? [loopbackOnly(allowed_origins)] : []),
    ),
  );

  app.get('/health', health('approval_agent', { version }));
  app.get('/readiness', readiness(checks, { version }));
  app.get('/metrics', metricsRoute(parts.metrics));
  app.get('/openapi.json', openApi(APPROVAL_AGENT, { version }));
  app.all(['/health', '/readiness', '/metrics', '/openapi.json'], otherMethods('GET'));

  const threads = threadRoutes(parts);
  const limited: RequestHandler = (req, res, next) => parts.limit(req, res).then(() => next());
  app.use('/hitl', authenticate(parts.authenticator));
  app.post('/hitl/chat', limited, chatRoute(parts));
  app.post('/hitl/review', limited, reviewRoute(parts));
  app.all(['/hitl/chat', '/hitl/review'], otherMethods('POST'));
  app.get('/hitl/threads/:thread_id', threads.read);
  app.get('/hitl/threads/:thread_id/messages', limited, threads.messages);
  app.all(['/hitl/threads/:thread_id', '/hitl/threads/:thread_id/messages'], otherMethods('GET'));

  app.use(notFound);
  app.use(detailErrors(log));
  return app;
}
