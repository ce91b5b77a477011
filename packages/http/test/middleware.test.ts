import { createServer } from 'node:http';
import express from 'express';
import { afterEach, expect, test } from 'vitest';
import {
  authenticate,
  byCredential,
  compose,
  cors,
  HttpError,
  loopbackOnly,
  type Middleware,
  principalOf,
  readJsonObject,
  requestId,
  requestIdOf,
  sendJson,
  skipAuth,
} from '../src/index.ts';
import { listen, serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

test('steps run in order and the first that answers is the last that runs', async () => {
  const ran: number[] = [];
  const step =
    (n: number): Middleware =>
    (_req, _res, next) => {
      ran.push(n);
      next();
    };
  site = await serve(step(1), step(2), (_req, res) => void res.end('here'), step(3));
  expect((await site.ask('/')).text).toBe('here');
  expect(ran).toEqual([1, 2]);
});

test.each<[string, Middleware]>([
  [
    'thrown',
    () => {
      throw new HttpError(418, 'x', 'x');
    },
  ],
  ['rejected', () => Promise.reject(new HttpError(418, 'x', 'x'))],
  ['handed on', (_req, _res, next) => next(new HttpError(418, 'x', 'x'))],
])('an error that is %s ends the run', async (_way, fail) => {
  site = await serve(fail, (_req, res) => void res.end('reached'));
  expect((await site.ask('/')).status).toBe(418);
});

test('what ran in front of Express holds inside it: id, principal and body', async () => {
  const app = express();
  app.post('/deep/route', async (req, res) => {
    res.json({ id: requestIdOf(req), user: principalOf(req).owner.user, body: await readJsonObject(req) });
  });
  const front = compose(
    requestId(() => 'made'),
    authenticate(skipAuth),
  );
  const server = createServer((req, res) => void front(req, res, () => app(req, res)));
  site = await listen(server);
  const headers = { 'Content-Type': 'application/json' };
  const answer = await site.ask('/deep/route', { method: 'POST', body: '{"a":1}', headers });
  expect(answer.json).toEqual({ id: 'made', user: '00000000-0000-0000-0000-000000000002', body: { a: 1 } });
});

test('a request is checked in the order of the contract: CORS, auth, id, body', async () => {
  const checkId: Middleware = (req, _res, next) =>
    next(
      req.url === '/bad%20id' ? new HttpError(400, 'invalid_task_id', 'Invalid task ID format') : undefined,
    );
  const verify = async (key: string) =>
    key === 'good' ? { owner: { user: 'u', tenant: 't' }, role: 'user', via: 'api-key' as const } : null;
  site = await serve(requestId(), cors(), authenticate(byCredential(verify)), checkId, async (req, res) =>
    sendJson(res, 200, await readJsonObject(req)),
  );
  const ask = async (path: string, headers: Record<string, string>, method = 'POST') => {
    const answer = await site.ask(path, { method, body: 'nonsense', headers });
    expect(answer.headers['x-request-id']).toBeTruthy();
    return answer.json?.code ?? answer.status;
  };
  const preflight = { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' };
  expect(await ask('/bad%20id', preflight, 'OPTIONS')).toBe(204);
  expect(await ask('/bad%20id', {})).toBe('authentication_required');
  expect(await ask('/bad%20id', { 'X-API-Key': 'bad' })).toBe('invalid_token');
  expect(await ask('/bad%20id', { 'X-API-Key': 'good' })).toBe('invalid_task_id');
  expect(await ask('/id', { 'X-API-Key': 'good' })).toBe('unsupported_media_type');
  expect(await ask('/id', { 'X-API-Key': 'good', 'Content-Type': 'application/json' })).toBe('invalid_body');
});

test('while auth is off the guard comes before the principal', async () => {
  site = await serve(loopbackOnly(), authenticate(skipAuth));
  const headers = { Host: 'localhost', Origin: 'https://evil.example', 'X-User-Id': 'nonsense' };
  expect((await site.ask('/', { headers })).status).toBe(403);
});
