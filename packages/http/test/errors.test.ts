import { createServer } from 'node:http';
import { refuse } from '@plangate/contracts';
import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { errorHandler, fromRefusal, HttpError, methodNotAllowed, notFound, requestId } from '../src/index.ts';
import { keptLog, listen, serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

async function serveExpress(route: express.RequestHandler) {
  const { log, lines } = keptLog();
  const app = express();
  app.use(requestId());
  app.post('/parsed', express.json({ limit: 100 }), (_req, res) => void res.json({}));
  app.get('/items/:id', route);
  app.all('/items/:id', methodNotAllowed('GET', 'DELETE'));
  app.use(notFound);
  app.use(errorHandler(log));
  site = await listen(createServer(app), lines);
}

describe('the one error shape', () => {
  test('a refusal is answered with its status, text, code, fields and the headers given', async () => {
    const refusal = refuse(409, 'version_conflict', 'Conflict: state has been modified', { version: 4 });
    await serveExpress(async () => {
      throw fromRefusal(refusal, { ETag: '"4"' });
    });
    const answer = await site.ask('/items/1');
    expect(answer.status).toBe(409);
    expect(answer.json).toEqual({
      error: 'Conflict: state has been modified',
      code: 'version_conflict',
      version: 4,
    });
    expect(answer.headers.etag).toBe('"4"');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(site.lines).toEqual([]);
  });

  test('a field cannot replace error or code', async () => {
    site = await serve(() => {
      throw new HttpError(400, 'real', 'Real', { fields: { error: 'x', code: 'y', limit: 1 } });
    });
    expect((await site.ask('/')).json).toEqual({ error: 'Real', code: 'real', limit: 1 });
  });

  test('a 503 refusal tells when to come back', () => {
    expect(fromRefusal(refuse(503, 'engine_unavailable', 'Task engine unavailable')).headers).toEqual({
      'Retry-After': '2',
    });
  });

  test('an unknown error is 500 without internals and is logged under the id that the client gets', async () => {
    await serveExpress(async () => {
      throw Object.assign(new Error('secret detail'), { command: { args: ['user text'] } });
    });
    const answer = await site.ask('/items/1', { headers: { 'X-Request-ID': 'r-1' } });
    expect(answer.status).toBe(500);
    expect(answer.json).toEqual({
      error: 'Internal server error',
      code: 'internal',
      error_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(site.lines).toHaveLength(1);
    expect(site.lines[0]).toMatchObject({ level: 50, error_id: answer.json.error_id, request_id: 'r-1' });
    expect(JSON.stringify(site.lines)).not.toContain('user text');
  });

  test('a fault of Redis is 503 store_unavailable with Retry-After', async () => {
    await serveExpress(async () => {
      throw new Error("Stream isn't writeable and enableOfflineQueue options is false");
    });
    const answer = await site.ask('/items/1');
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('2');
    expect(answer.json).toEqual({ error: 'Review store unavailable', code: 'store_unavailable' });
  });

  test('an error after the head of the answer breaks the connection instead of ending it as if whole', async () => {
    await serveExpress(async (_req, res) => {
      res.write('half');
      throw new Error('late');
    });
    await expect(site.ask('/items/1')).rejects.toThrow();
  });
});

describe('what Express itself refuses', () => {
  test.each([
    ['{"a":', 'application/json', 400, 'invalid_body', 'Invalid request body'],
    [`{"a":"${'x'.repeat(200)}"}`, 'application/json', 413, 'body_too_large', 'Request body too large'],
    ['{}', 'application/json; charset=latin9', 415, 'unsupported_media_type', 'Unsupported media type'],
  ])('body-parser on %j as %s is %i %s', async (body, type, status, code, error) => {
    await serveExpress((_req, res) => void res.end());
    const answer = await site.ask('/parsed', { method: 'POST', body, headers: { 'Content-Type': type } });
    expect([answer.status, answer.json]).toEqual([status, { error, code }]);
  });

  test('a path that cannot be decoded is 400 invalid_url', async () => {
    await serveExpress((_req, res) => void res.end());
    const answer = await site.ask('/items/%ZZ');
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_url']);
  });

  test('an unknown route is 404 in JSON', async () => {
    await serveExpress((_req, res) => void res.end());
    const answer = await site.ask('/nowhere');
    expect([answer.status, answer.json]).toEqual([404, { error: 'Not found', code: 'not_found' }]);
  });

  test('a known route under another method is 405 with Allow', async () => {
    await serveExpress((_req, res) => void res.end());
    const answer = await site.ask('/items/1', { method: 'PUT' });
    expect([answer.status, answer.json]).toEqual([
      405,
      { error: 'Method not allowed', code: 'method_not_allowed' },
    ]);
    expect(answer.headers.allow).toBe('GET, HEAD, DELETE');
  });
});
