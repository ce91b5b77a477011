export { type ApiKeyRecord, type ApiKeyStore, apiKeyStore, type NewApiKey } from './auth/api-key.ts';
export {
  type Authenticator,
  authenticate,
  byCredential,
  type CredentialOptions,
  type Verifier,
} from './auth/authenticate.ts';
export { type JwtKeys, type JwtOptions, jwtVerifier } from './auth/jwt.ts';
export { type JwtSettings, jwtVerifiers } from './auth/jwt-settings.ts';
export { findPrincipal, type Principal, principalOf, setPrincipal } from './auth/principal.ts';
export { loopbackOnly, SKIP_AUTH_TENANT, SKIP_AUTH_USER, skipAuth } from './auth/skip.ts';
export {
  BODY_LIMIT_BYTES,
  type BodyOptions,
  isJsonType,
  readBody,
  readJsonObject,
  TASK_BODY_LIMIT_BYTES,
} from './body.ts';
export { type CorsOptions, cors } from './cors.ts';
export {
  answerError,
  type ErrorMiddleware,
  errorHandler,
  fromRefusal,
  HttpError,
  methodNotAllowed,
  notFound,
  sendError,
} from './errors.ts';
export { type HealthCheck, type HealthHandler, type HealthOptions, health, readiness } from './health.ts';
export {
  answerOnce,
  type Finished,
  type IdempotencyStore,
  idempotencyStore,
  type KeptReply,
  type KeyedRequest,
  keyedRequest,
  type OnceOptions,
  type Scope,
  type Ticket,
} from './idempotency/index.ts';
export { loggedPath, logRequests, noteWorkflow } from './log-requests.ts';
export { isLoopback } from './loopback.ts';
export { compose, type Middleware, requestTarget } from './middleware.ts';
export { openApi } from './openapi.ts';
export { type RateLimiter, type RateLimitOptions, type RateLimits, rateLimiter } from './rate-limit.ts';
export { type Reply, sendReply } from './reply.ts';
export { requestId, requestIdOf, type Trace, traceOf } from './request-id.ts';
export { routesOf } from './routes-of.ts';
export { sendJson } from './send-json.ts';
export { createHttpServer, listen } from './server.ts';
export { type StoppableServer, stoppable } from './shutdown.ts';
