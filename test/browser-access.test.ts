import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { BROWSER_MS } from './support/browser.ts';
import type { Desktop } from './support/desktop.ts';
import { type DesktopRig, startDesktopRig } from './support/desktop-rig.ts';
import { stays } from './support/until.ts';

const EVIL = 'evil.example';
/** `EventSource.CLOSED`. */
const CLOSED = 2;

vi.setConfig({ testTimeout: 90_000 });

let rig: DesktopRig;
beforeAll(async () => {
  rig = await startDesktopRig({}, [EVIL]);
}, BROWSER_MS);
afterEach(() => rig.closePages());
afterAll(() => rig?.stop());

const unique = (query: string) => `${query} ${randomUUID()}`;
const reviewPath = (id: string) => `/api/v1/tasks/${id}/review`;

describe('what a page of another origin may send and read', () => {
  const openClient = (apiKey?: string) =>
    rig.openPage({
      gatewayUrl: rig.guarded.url ?? '',
      ...(apiKey ? { apiKey } : {}),
    });
  const ALLOWED = {
    Authorization: 'Bearer wrong',
    'X-User-Id': randomUUID(),
    'X-Tenant-Id': randomUUID(),
    'Idempotency-Key': 'k',
    'If-Match': '1',
    'If-None-Match': '"1"',
    'Last-Event-ID': '1',
    'Cache-Control': 'no-cache',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=b',
  };

  test('a preflight is answered before auth: without a credential the page reads the 401 itself', async () => {
    const desktop = await openClient();
    const missing = await desktop.call(
      'POST',
      reviewPath('task-1'),
      { action: 'approve' },
      { 'If-Match': '0' },
    );
    expect([missing.status, missing.json.error]).toEqual([401, 'Authentication required']);
    const wrong = await desktop.call(
      'POST',
      reviewPath('task-1'),
      { action: 'approve' },
      { 'X-API-Key': 'no' },
    );
    expect([wrong.status, wrong.json.error]).toEqual([401, 'Invalid token']);
  });

  test('every header of the contract may be sent, PATCH and DELETE too, and no other header', async () => {
    const desktop = await openClient();
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
      const answer = await desktop.call(method, '/api/v1/sessions/s', method === 'GET' ? null : {}, ALLOWED);
      expect([method, answer.status]).toEqual([method, 401]);
    }
    await expect(desktop.call('GET', '/api/v1/sessions', null, { 'X-Other': '1' })).rejects.toThrow(
      'Failed to fetch',
    );
  });

  test('every exposed header can be read: ETag, ids, link, replays and limits', async () => {
    const desktop = await openClient(await rig.createKey());
    const task = { query: unique('Headers'), context: { require_review: true } };
    const once = { 'Idempotency-Key': randomUUID() };
    const submitted = await desktop.call('POST', '/api/v1/tasks/stream', task, once);
    const id = submitted.json.task_id;
    expect([submitted.status, submitted.headers]).toMatchObject([
      201,
      {
        'x-workflow-id': id,
        'x-session-id': expect.stringMatching(/./),
        'x-request-id': expect.stringMatching(/./),
        link: `</api/v1/stream/sse?workflow_id=${id}>; rel="stream"`,
        'x-ratelimit-limit-minute': '60',
        'x-ratelimit-remaining-minute': expect.stringMatching(/^\d+$/),
        'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
      },
    ]);
    const again = await desktop.call('POST', '/api/v1/tasks/stream', task, once);
    expect([again.json.task_id, again.headers['x-idempotency-cached']]).toEqual([id, 'true']);
    const review = await desktop.call('GET', reviewPath(id));
    expect([review.status, review.headers['etag']]).toEqual([200, '"1"']);
    const unchanged = await desktop.call('GET', reviewPath(id), null, { 'If-None-Match': '"1"' });
    expect(unchanged.status).toBe(304);
    expect((await desktop.call('POST', `/api/v1/tasks/${id}/cancel`, {})).status).toBe(202);
  });

  test('one request too many is a 429 whose Retry-After the page can read; polling is not counted', async () => {
    const desktop = await openClient(await rig.createKey());
    let answer = await desktop.call('GET', '/api/v1/sessions');
    for (let n = 0; n < 60 && answer.status === 200; n += 1)
      answer = await desktop.call('GET', '/api/v1/sessions');
    expect([answer.status, answer.json.error, answer.headers['retry-after']]).toEqual([
      429,
      'Rate limit exceeded',
      expect.stringMatching(/^[1-9]\d*$/),
    ]);
    expect((await desktop.call('GET', '/api/v1/tasks/task-unknown')).status).toBe(404);
  });

  test('an EventSource with a wrong key is refused once and does not come back', async () => {
    const desktop = await openClient('wrong');
    await desktop.page.evaluate("app.taskId = 'task-1'");
    const state = await desktop.page.evaluate(`new Promise((resolve) => {
      const source = new EventSource('${rig.guarded.url}/api/v1/stream/sse?workflow_id=task-1&api_key=wrong');
      source.onerror = () => resolve(source.readyState);
    })`);
    expect(state).toBe(CLOSED);
    expect((await desktop.streams()[0]?.response())?.status()).toBe(401);
    await stays(() => desktop.streams().length === 1, 3_000);
  });
});

describe('while auth is off, a page from elsewhere', () => {
  async function openReview(): Promise<{ id: string; desktop: Desktop }> {
    const desktop = await rig.openPage({ gatewayUrl: rig.open.url ?? '' });
    return { id: await desktop.ask(unique('Not yours')), desktop };
  }

  async function expectUntouched(desktop: Desktop, id: string): Promise<void> {
    const { json } = await desktop.call('GET', reviewPath(id));
    expect([json.status, json.version]).toEqual(['reviewing', 1]);
    expect((await desktop.call('POST', `/api/v1/tasks/${id}/cancel`, {})).status).toBe(202);
  }

  test('is refused with 403 and cannot approve, by requests that need no preflight either', async () => {
    const { id, desktop } = await openReview();
    const evil = await rig.openPage({ host: EVIL, gatewayUrl: rig.open.url ?? '' });
    const refusal = [403, 'Origin not allowed'];
    for (const [method, body] of [['GET'], ['POST', { action: 'approve' }]] as const) {
      const answer = await evil.call(method, reviewPath(id), body);
      expect([answer.status, answer.json.error]).toEqual(refusal);
    }
    const request = evil.page.waitForResponse((each) => each.request().method() === 'POST');
    await evil.page.evaluate(`fetch('${rig.open.url}${reviewPath(id)}', {
      method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' }, body: '{"action":"approve"}',
    }).then(() => null)`);
    expect((await request).status()).toBe(403);
    const state = await evil.page.evaluate(`new Promise((resolve) => {
      const source = new EventSource('${rig.open.url}/api/v1/stream/sse?workflow_id=${id}');
      source.onerror = () => resolve(source.readyState);
      source.onopen = () => resolve(source.readyState);
    })`);
    expect(state).toBe(CLOSED);
    await expectUntouched(desktop, id);
  });

  test('is refused with 403 where its name was bound to loopback anew (DNS rebinding)', async () => {
    const { id, desktop } = await openReview();
    const rebound = `http://${EVIL}:${new URL(rig.open.url ?? '').port}`;
    const context = await rig.browser.newContext();
    const page = await context.newPage();
    const loaded = await page.goto(`${rebound}${reviewPath(id)}`);
    expect([loaded?.status(), await loaded?.json()]).toMatchObject([403, { error: 'Host not allowed' }]);
    const ask = (method: string) =>
      page.evaluate(`fetch('${reviewPath(id)}', {
        method: '${method}',
        ...('${method}' === 'POST' && {
          headers: { 'Content-Type': 'application/json' }, body: '{"action":"approve"}',
        }),
      }).then((response) => response.status)`);
    expect([await ask('GET'), await ask('POST')]).toEqual([403, 403]);
    await context.close();
    await expectUntouched(desktop, id);
  });

  test('is refused in a sandbox without an origin of its own', async () => {
    const { id, desktop } = await openReview();
    const evil = await rig.openPage({ host: EVIL, gatewayUrl: rig.open.url ?? '' });
    const status = await evil.page.evaluate(`new Promise((resolve) => {
      addEventListener('message', ({ data }) => resolve(data));
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts';
      frame.srcdoc = \`<script>fetch('${rig.open.url}${reviewPath(id)}', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"action":"approve"}',
      }).then(({ status }) => parent.postMessage(status, '*'), (error) => parent.postMessage(String(error), '*'))<\\/script>\`;
      document.body.append(frame);
    })`);
    expect(status).toBe(403);
    await expectUntouched(desktop, id);
  });
});
