import type { IncomingMessage, ServerResponse } from 'node:http';
import { MODELS_NOT_CONFIGURED } from '@plangate/contracts';
import {
  errorHandler,
  fromRefusal,
  HttpError,
  health,
  logRequests,
  methodNotAllowed,
  notFound,
  readiness,
  readJsonObject,
  requestId,
  sendJson,
} from '@plangate/http';
import type { Logger } from '@plangate/service';
import express, { type Express } from 'express';
import type { z } from 'zod';
import { type Agent, NotConfigured, ProviderFailure, UnknownProvider } from './agent.ts';
import { AnswerBody, BODY_LIMIT_BYTES, ChatBody, DecomposeBody, PlanBody, WriteBody } from './limits.ts';

const VERSION = '0.1.0';

/** What the app is built from. */
export interface AppParts {
  agent: Agent;
  log: Logger;
  /** Parts that readiness asks for, such as the chosen provider's key and the documents. */
  checks: Record<string, () => Promise<unknown>>;
}

/**
 * The HTTP app of `contract/plan-review.md §5`, with the chat of `contract/tool-approval.md §4`. A model call belongs to no connection: a client that goes away
 * does not end it.
 */
export function createApp({ agent, log, checks }: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requestId(), logRequests(log));

  post(app, '/agent/research-plan', log, PlanBody, (body) => agent.plan(body));
  post(app, '/agent/decompose', log, DecomposeBody, (body) => agent.decompose(body));
  post(app, '/agent/write', log, WriteBody, (body) => agent.write(body));
  post(app, '/agent/answer', log, AnswerBody, (body) => agent.answer(body));
  post(app, '/agent/chat', log, ChatBody, (body) => agent.chat(body));
  app.get('/health', health('llm_service', { version: VERSION }));
  app.get('/readiness', readiness(checks, { version: VERSION }));
  app.all(['/health', '/readiness'], methodNotAllowed('GET'));

  app.use(notFound);
  app.use(errorHandler(log));
  return app;
}

function post<T extends z.ZodType>(
  app: Express,
  path: string,
  log: Logger,
  schema: T,
  answer: (body: z.infer<T>) => Promise<unknown>,
): void {
  app.post(path, async (req: IncomingMessage, res: ServerResponse) => {
    const body = schema.safeParse(await readJsonObject(req, { limitBytes: BODY_LIMIT_BYTES }));
    if (!body.success) throw invalid(body.error);
    const result = await answer(body.data).catch((error: unknown) => {
      throw toHttpError(error, log);
    });
    sendJson(res, 200, result);
  });
  app.all(path, methodNotAllowed('POST'));
}

/** 400 that names the first field at fault. */
function invalid(error: z.ZodError): HttpError {
  const [issue] = error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  return new HttpError(400, 'invalid_body', `Invalid request body: ${field}: ${issue?.message ?? ''}`, {
    fields: { field },
  });
}

function toHttpError(error: unknown, log: Logger): unknown {
  if (error instanceof NotConfigured) {
    log.warn({ reason: error.message }, 'no provider');
    return fromRefusal({ ...MODELS_NOT_CONFIGURED, fields: { ...error.missing } });
  }
  if (error instanceof UnknownProvider) {
    return new HttpError(400, 'unknown_provider', `Invalid request body: ${error.message}`, {
      fields: { field: 'provider_override' },
    });
  }
  if (error instanceof ProviderFailure) {
    log.warn({ reason: error.reason, provider_status: error.status }, 'provider failed');
    return new HttpError(502, 'provider_failed', 'The model provider failed');
  }
  return error;
}
