import type { WorkflowId } from '@plangate/contracts';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asking, openReview, type Rig, recordOf, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

interface Route {
  method: string;
  path: (id: string) => string;
  body?: unknown;
}

const task = (suffix: string, method = 'GET', body?: unknown): Route => ({
  method,
  path: (id) => `/api/v1/tasks/${id}${suffix}`,
  ...(body === undefined ? {} : { body }),
});
const TASK_ROUTES: Route[] = [
  task(''),
  task('/events'),
  task('/timeline'),
  task('/stream'),
  task('/control-state'),
  task('/cancel', 'POST'),
  task('/pause', 'POST', { reason: 'x' }),
  task('/resume', 'POST'),
];
const REVIEW_ROUTES: Route[] = [
  task('/review?wait=0'),
  task('/review/versions'),
  task('/review/diff?from=1&to=1'),
  task('/review/audit'),
  task('/review', 'POST', { action: 'approve' }),
  task('/review', 'POST', { action: 'feedback', message: 'x' }),
  task('/review', 'POST', { action: 'edit', plan: 'x' }),
  task('/review', 'POST', { action: 'reject' }),
  task('/review', 'POST', { action: 'extend', seconds: 1 }),
];
const STREAM: Route = { method: 'GET', path: (id) => `/api/v1/stream/sse?workflow_id=${id}` };
const LISTS: Route[] = [
  { method: 'GET', path: () => '/api/v1/tasks' },
  { method: 'POST', path: () => '/api/v1/tasks', body: { query: 'x' } },
  { method: 'POST', path: () => '/api/v1/tasks/stream', body: { query: 'x' } },
];
const SESSIONS: Route[] = ['', '/history', '/events'].map((suffix) => ({
  method: 'GET',
  path: (id) => `/api/v1/sessions/${id}${suffix}`,
}));
SESSIONS.push(
  { method: 'PATCH', path: (id) => `/api/v1/sessions/${id}`, body: { title: 'x' } },
  { method: 'DELETE', path: (id) => `/api/v1/sessions/${id}` },
);
const send = (route: Route, id: string, asking: Asking = {}) =>
  rig.ask(route.path(id), { method: route.method, body: route.body, ...asking });
const named = (routes: Route[]) =>
  routes.map((route) => [`${route.method} ${route.path('{id}')}`, route] as const);

describe('credentials', () => {
  test.each(named([...TASK_ROUTES, ...REVIEW_ROUTES, STREAM, ...LISTS, ...SESSIONS]))(
    '%s: none is 401, a wrong one too, before anything else is looked at',
    async (_name, route) => {
      for (const id of ['task-1', 'not%20an%20id']) {
        const none = await send(route, id, { key: null });
        expect([none.status, none.json]).toEqual([
          401,
          { error: 'Authentication required', code: 'authentication_required' },
        ]);
        expect(none.headers['www-authenticate']).toBe('Bearer realm="Plangate API"');
        const wrong = await send(route, id, { key: 'pg_wrong' });
        expect([wrong.status, wrong.json.error]).toEqual([401, 'Invalid token']);
      }
    },
  );

  test('a key works as X-API-Key, as bearer in any case, and in the query of streams only', async () => {
    const { task_id } = await rig.task();
    const bearer = { key: null, headers: { Authorization: `bEaReR ${rig.keys.alice}` } };
    expect((await rig.ask(`/api/v1/tasks/${task_id}`, bearer)).status).toBe(200);
    const inQuery = `?api_key=${rig.keys.alice}`;
    expect((await rig.ask(`/api/v1/tasks/${task_id}${inQuery}`, { key: null })).status).toBe(401);
    const stream = `/api/v1/stream/sse${inQuery}&workflow_id=${task_id}`;
    expect((await rig.ask(stream, { key: null, method: 'HEAD' })).status).toBe(200);
    expect((await rig.ask(stream, { key: null, method: 'POST' })).status).toBe(401);
    expect(JSON.stringify(rig.lines)).not.toContain(rig.keys.alice);
  });

  test('a JWT is a credential where the settings take one: its user and tenant own what they make', async () => {
    const secret = 'a secret that has more than thirty-two bytes';
    const jwt = { secret, issuer: 'https://login.example.org', audience: 'plangate' };
    const withTokens = await startRig({ redis: rig.redisServer, settings: { jwt } });
    const sign = (claims: object, key = secret) =>
      new SignJWT({ sub: 'alice', tenant_id: 'acme', ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(jwt.issuer)
        .setAudience(jwt.audience)
        .setExpirationTime('1 minute')
        .sign(new TextEncoder().encode(key));
    try {
      const { task_id } = await withTokens.task();
      const status = async (token: string, path = `/api/v1/tasks/${task_id}`) => {
        const headers = { Authorization: `Bearer ${token}` };
        return (await withTokens.ask(path, { key: null, headers })).status;
      };
      expect(await status(await sign({}))).toBe(200);
      expect(await status(withTokens.keys.alice)).toBe(200);
      expect(await status(await sign({ sub: 'mallory' }))).toBe(404);
      expect(await status(await sign({ tenant_id: 'umbrella' }))).toBe(404);
      expect(await status(await sign({}, `${secret}!`))).toBe(401);
      expect(await status(await sign({ tenant_id: undefined }))).toBe(401);
      const stream = `/api/v1/stream/sse?workflow_id=${task_id}&token=${await sign({})}`;
      expect((await withTokens.ask(stream, { key: null, method: 'HEAD' })).status).toBe(200);
      expect(JSON.stringify(withTokens.lines)).not.toContain('eyJ');
    } finally {
      await withTokens.stop();
    }
    // A gateway that takes no tokens knows none.
    const headers = { Authorization: `Bearer ${await sign({})}` };
    expect((await rig.ask('/api/v1/tasks', { key: null, headers })).status).toBe(401);
  });

  test('health, readiness and metrics are open', async () => {
    expect((await rig.ask('/health', { key: null })).json).toMatchObject({
      status: 'healthy',
      version: '0.0.0',
      checks: { gateway: 'ok' },
    });
    const ready = () => rig.ask('/readiness', { key: null });
    expect(await ready()).toMatchObject({ status: 503, json: { status: 'not ready' } });
    // A check that a busy machine holds up for long says so first.
    await expect
      .poll(async () => (await ready()).json.checks, { timeout: 20_000 })
      .toEqual({ redis: 'ok', temporal: 'unavailable', 'llm-service': 'ok' });
    const metrics = await rig.ask('/metrics', { key: null });
    expect(metrics.text).toContain('process_cpu_user_seconds_total');
    expect(metrics.headers['content-type']).toContain('text/plain');
  });
});

describe('owners', () => {
  test.each(named([...TASK_ROUTES, STREAM]))(
    'P111 %s: another owner sees 404, as for an unknown id',
    async (_, route) => {
      const id = await rig.review();
      const unknown = await send(route, 'task-unknown');
      expect([unknown.status, unknown.json]).toEqual([
        404,
        { error: 'Task not found', code: 'task_not_found' },
      ]);
      for (const key of [rig.keys.bob, rig.keys.carol]) {
        const foreign = await send(route, id, { key, headers: { 'Last-Event-ID': '1' } });
        expect([foreign.status, foreign.json]).toEqual([404, unknown.json]);
      }
    },
  );

  test.each(named(REVIEW_ROUTES))(
    '%s: another owner is 403 with a review or without one, an unknown id is 404',
    async (_, route) => {
      const withReview = await rig.review();
      const { task_id: without } = await rig.task();
      for (const id of [withReview, without]) {
        const bob = await send(route, id, { key: rig.keys.bob });
        expect([bob.status, bob.json.error]).toEqual([403, 'Forbidden: not the task owner']);
        const carol = await send(route, id, { key: rig.keys.carol });
        expect([carol.status, carol.json.error]).toEqual([403, 'Forbidden: not authorized for this tenant']);
      }
      const unknown = await send(route, 'task-unknown');
      expect([unknown.status, unknown.json.error]).toEqual([404, 'Review session not found or expired']);
      expect((await rig.reviews.load(withReview)).state?.version).toBe(1);
    },
  );

  test('P13 P108 a review without an owner is nobody’s', async () => {
    const id = 'task-ownerless' as WorkflowId;
    await openReview(rig.reviews, id, {}, { owner: null });
    for (const route of REVIEW_ROUTES) expect((await send(route, id)).status).toBe(403);
  });

  test('lists show the caller’s own tasks only', async () => {
    const record = recordOf({}, { user: 'bob', tenant: 'acme' });
    await rig.tasks.create(record);
    const ids = async (key: string) =>
      (await rig.ask('/api/v1/tasks?limit=100', { key })).json.tasks.map(
        (t: { task_id: string }) => t.task_id,
      );
    expect(await ids(rig.keys.bob)).toEqual([record.task_id]);
    expect(await ids(rig.keys.alice)).not.toContain(record.task_id);
    expect(await ids(rig.keys.carol)).toEqual([]);
  });
});

describe('order of checks', () => {
  test.each(named(TASK_ROUTES))('%s: a bad id is 400 before body and resource', async (_, route) => {
    const body = route.method === 'POST' ? { raw: '{' } : {};
    for (const id of ['a%20b', '%F0%9F%98%80', 'x'.repeat(129), 'a%2Fb', '%ZZ']) {
      const answer = await send(route, id, body);
      expect([answer.status, answer.json]).toEqual([
        400,
        { error: 'Invalid task ID format', code: 'invalid_task_id' },
      ]);
    }
  });

  test.each(named(REVIEW_ROUTES))('%s: a bad id is 400 in the words of the review', async (_, route) => {
    for (const id of ['a%20b', '%E0%A4%A']) {
      const answer = await send(route, id, route.method === 'POST' ? { raw: '{' } : {});
      expect([answer.status, answer.json.error]).toEqual([400, 'Invalid workflow ID format']);
    }
  });

  test('a bad body comes before an unknown task, an unknown task before another owner’s state', async () => {
    const bad = { method: 'POST', body: { action: 'no' } };
    expect((await rig.ask('/api/v1/tasks/task-unknown/review', bad)).status).toBe(400);
    const reason = { method: 'POST', body: { reason: 7 } };
    expect((await rig.ask('/api/v1/tasks/task-unknown/cancel', reason)).status).toBe(400);
    const id = await rig.review();
    await rig.post(`/api/v1/tasks/${id}/review`, { action: 'reject' });
    const foreign = await rig.ask(`/api/v1/tasks/${id}/review`, {
      method: 'POST',
      body: { action: 'approve' },
      key: rig.keys.bob,
      headers: { 'If-Match': '"9"' },
    });
    expect(foreign.status).toBe(403);
    const own = await rig.post(
      `/api/v1/tasks/${id}/review`,
      { action: 'edit', plan: 'x' },
      { 'If-Match': '"9"' },
    );
    expect(own.json.error).toBe('Review is closed: rejected');
  });

  test('a preflight is answered before auth, and every answer has a request id and CORS headers', async () => {
    const preflight = await rig.ask('/api/v1/tasks/task-1/review', {
      method: 'OPTIONS',
      key: null,
      headers: { Origin: 'https://desk.example.org', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-headers']).toContain('If-Match');
    for (const path of ['/api/v1/tasks/task-1/review', '/nowhere', '/api/v1/stream/sse']) {
      const { headers } = await rig.ask(path, { key: null });
      expect(headers['x-request-id']).toMatch(/./);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']).toContain('ETag');
    }
  });

  test('unknown routes are 404 and known ones under other methods 405 with Allow, both as JSON', async () => {
    for (const path of ['/', '/api/v1', '/api/v1/nothing', '/api/v1/tasks/a/b/c', '/api/v2/tasks']) {
      expect([path, (await rig.ask(path)).json]).toEqual([path, { error: 'Not found', code: 'not_found' }]);
    }
    const wrong: [string, string, string][] = [
      ['DELETE', '/api/v1/tasks/task-1/review', 'GET, HEAD, POST'],
      ['PUT', '/api/v1/tasks', 'GET, HEAD, POST'],
      ['GET', '/api/v1/tasks/task-1/cancel', 'POST'],
      ['POST', '/api/v1/stream/sse', 'GET, HEAD'],
      ['POST', '/health', 'GET, HEAD'],
    ];
    for (const [method, path, allow] of wrong) {
      const answer = await rig.ask(path, { method });
      expect([path, answer.status, answer.headers.allow]).toEqual([path, 405, allow]);
      expect(answer.json.code).toBe('method_not_allowed');
    }
  });

  test('a path that cannot be decoded is 400, not 500', async () => {
    expect((await rig.ask('/api/v1/tasks/%ZZ/review')).status).toBe(400);
    expect((await rig.ask('/api/v1/tasks/%ZZ')).status).toBe(400);
  });
});

describe('with auth off', () => {
  test('requests have a fixed owner or the UUIDs of their headers, and web pages from elsewhere are refused', async () => {
    const open = await startRig({ redis: rig.redisServer, settings: { gateway: { skip_auth: true } } });
    try {
      const user = '11111111-1111-4111-8111-111111111111';
      const record = recordOf({}, { user, tenant: '00000000-0000-0000-0000-000000000001' });
      await open.tasks.create(record);
      const path = `/api/v1/tasks/${record.task_id}`;
      expect((await open.ask(path, { key: null })).status).toBe(404);
      expect((await open.ask(path, { key: null, headers: { 'X-User-Id': user } })).status).toBe(200);
      for (const [header, value, text] of [
        ['Origin', 'https://evil.example', 'Origin not allowed'],
        ['Host', 'evil.example', 'Host not allowed'],
      ] as const) {
        for (const target of [path, `${path}/review`, `/api/v1/stream/sse?workflow_id=${record.task_id}`]) {
          const refused = await open.ask(target, { key: null, headers: { [header]: value } });
          expect([refused.status, refused.json.error]).toEqual([403, text]);
        }
      }
      const id = 'task-ownerless-open' as WorkflowId;
      await openReview(open.reviews, id, {}, { owner: null });
      expect((await open.ask(`/api/v1/tasks/${id}/review`, { key: null })).status).toBe(200);
    } finally {
      await open.stop();
    }
  });
});
