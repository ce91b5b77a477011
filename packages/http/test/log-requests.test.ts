import { createServer, request } from 'node:http';
import express from 'express';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loggedPath, logRequests, noteWorkflow, requestId, setPrincipal } from '../src/index.ts';
import { keptLog, listen, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

async function serveLogged(route: express.RequestHandler) {
  const { log, lines } = keptLog();
  const app = express();
  app.use(requestId(), logRequests(log));
  app.use('/mounted', express.Router().all('/x', route));
  site = await listen(createServer(app), lines);
}

const lineCount = (count: number) => vi.waitFor(() => expect(site.lines).toHaveLength(count));

describe('the log of requests', () => {
  test('has one line per request with what is known of it', async () => {
    await serveLogged((req, res) => {
      setPrincipal(req, { owner: { user: 'u', tenant: 't' }, role: 'user', via: 'api-key' });
      noteWorkflow(req, 'task-1');
      res.status(202).end();
    });
    await site.ask('/mounted/x?limit=3', { method: 'POST', headers: { 'X-Request-ID': 'r-1' } });
    await lineCount(1);
    expect(site.lines[0]).toMatchObject({
      level: 30,
      method: 'POST',
      path: '/mounted/x?limit=3',
      status: 202,
      ms: expect.any(Number),
      request_id: 'r-1',
      workflow_id: 'task-1',
      user: 'u',
      tenant: 't',
    });
  });

  test('never holds a credential or a body, wherever they were sent', async () => {
    await serveLogged(express.text({ type: '*/*' }));
    await site.ask('/mounted/x?api_key=SECRET&token=SECRET&workflow_id=w&API%5FKEY=SECRET&x=1', {
      method: 'POST',
      body: 'SECRET',
      headers: {
        'X-API-Key': 'SECRET',
        Authorization: 'Bearer SECRET',
        Cookie: 'SECRET',
        'X-Request-ID': 'SECRET;',
      },
    });
    await lineCount(1);
    expect(JSON.stringify(site.lines)).not.toContain('SECRET');
    expect(site.lines[0]?.['path']).toContain('workflow_id=w');
  });

  test('says when the client went away before the answer was whole', async () => {
    await serveLogged((_req, res) => void res.write('begin'));
    const req = request({ port: site.port, path: '/mounted/x' }, (res) =>
      res.once('data', () => req.destroy()),
    );
    req.on('error', () => {});
    req.end();
    await lineCount(1);
    expect(site.lines[0]).toMatchObject({ aborted: true });
  });

  test('raises the level where the fault is ours', async () => {
    await serveLogged((_req, res) => void res.status(503).end());
    await site.ask('/mounted/x');
    await lineCount(1);
    expect(site.lines[0]).toMatchObject({ level: 50, status: 503 });
  });
});

test.each([
  ['/a', '/a'],
  ['/a?', '/a?'],
  ['/a?token=s', '/a?token=[redacted]'],
  ['/a?x=1&api_key=s&y=2', '/a?x=1&api_key=[redacted]&y=2'],
  ['/a?API_KEY=s', '/a?API_KEY=[redacted]'],
  ['/a?%74oken=s', '/a?%74oken=[redacted]'],
  ['/a?token[]=s', '/a?token[]=[redacted]'],
  ['/a?token=a=b', '/a?token=[redacted]'],
  ['/a?x=1?token=s', '/a?x=1?token=s'],
  ['/a?%ZZ=1&token=s', '/a?%ZZ=1&token=[redacted]'],
])('the path %s is logged as %s', (target, logged) => {
  expect(loggedPath(target)).toBe(logged);
});
