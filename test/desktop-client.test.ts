import { randomUUID } from 'node:crypto';
import { type App, startApp } from '@plangate/devstack';
import { apiKeyStore } from '@plangate/http';
import { connectRedis } from '@plangate/redis';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER_MS, type Pages, servePages, startBrowser } from './support/browser.ts';
import { DESKTOP_PAGE, type Desktop, type DesktopOptions, openDesktop } from './support/desktop.ts';
import { PLAN, REVISED, ready, text } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { stays, until } from './support/until.ts';

const EVIL = 'evil.example';
const TIMEOUT_MS = 90_000;
/** `EventSource.CLOSED`. */
const CLOSED = 2;

let product: Product;
let open: App;
let keys: { ada: string; busy: string };
let pages: Pages;
let browser: Browser;
let desktops: Desktop[] = [];
beforeAll(async () => {
  product = await startProduct({ stack: { skipAuth: false } });
  const { GATEWAY_PORT: _, ...env } = product.stack.env;
  open = await startApp('gateway', { env: { ...env, GATEWAY_SKIP_AUTH: '1' } });
  const redis = connectRedis(product.stack.redis.url);
  await until(() => redis.status === 'ready');
  const create = async (user: string) =>
    (await apiKeyStore(redis).create({ owner: { user, tenant: 'acme' } })).key;
  keys = { ada: await create('ada'), busy: await create('busy') };
  redis.disconnect();
  pages = await servePages(DESKTOP_PAGE);
  browser = await startBrowser([EVIL]);
}, BROWSER_MS);
afterEach(async () => {
  await Promise.all(desktops.map((desktop) => desktop.close()));
  desktops = [];
});
afterAll(async () => {
  await browser?.close();
  await pages?.stop();
  await open?.stop();
  await product?.stop();
});

async function openPage(options: DesktopOptions): Promise<Desktop> {
  const desktop = await openDesktop(browser, options);
  desktops.push(desktop);
  return desktop;
}

const unique = (query: string) => `${query} ${randomUUID()}`;
const reviewPath = (id: string) => `/api/v1/tasks/${id}/review`;

/** A gate that the model's answers of one kind wait at. */
function holdModel(query: string, kind: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  product.model.on(query, async (call) => {
    if (call.kind === kind) await promise;
    return undefined;
  });
  return resolve;
}

/** Proves that the page was told every event of the task, each once and in order. */
async function expectAllOnce(desktop: Desktop, id: string): Promise<void> {
  const events = await desktop.events(id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect((await desktop.frames()).map((frame) => frame.id)).toEqual(events.map((event) => event.stream_id));
}

describe.each(['API key', 'no credentials'])(
  'a page of another origin, with fetch and EventSource alone: %s',
  (mode) => {
    const withKey = mode === 'API key';
    const gateway = () => (withKey ? product.stack.apps.gateway : open);
    const openClient = (more: Partial<DesktopOptions> = {}) =>
      openPage({
        pageUrl: `http://localhost:${pages.port}/`,
        gatewayUrl: gateway().url ?? '',
        ...(withKey ? { apiKey: keys.ada } : {}),
        ...more,
      });

    test(
      'approves at once on RESEARCH_PLAN_READY with If-Match: 0, and polls the task to its report',
      async () => {
        const query = unique('What causes tides?');
        const desktop = await openClient();
        const id = await desktop.ask(query);
        expect(await desktop.conversation()).toEqual([query, PLAN]);
        const request = desktop.page.waitForRequest((each) => each.method() === 'POST');
        await desktop.approve();
        expect((await request).headers()).toMatchObject({ 'if-match': '0' });
        await desktop.shows('TASK_STATUS_COMPLETED');
        expect(await desktop.report()).toContain('[1]');
        expect(await desktop.polls()).toBeGreaterThan(1);
        await desktop.told('done');
        await expectAllOnce(desktop, id);
        expect(desktop.streams().length).toBe(1);
        expect(desktop.streams()[0]?.url().includes('api_key=')).toBe(withKey);
      },
      TIMEOUT_MS,
    );

    test(
      'goes on with the ETag of a feedback; 0 and other stale versions are a 409 that it can read',
      async () => {
        const desktop = await openClient();
        const id = await desktop.ask(unique('Feedback'));
        await desktop.feedback('Only open sources');
        expect(await desktop.conversation()).toEqual([
          expect.stringContaining('Feedback'),
          PLAN,
          'Only open sources',
          REVISED,
        ]);
        expect(await desktop.page.evaluate('app.version')).toBe(2);
        for (const stale of ['0', '1']) {
          const refused = await desktop.call(
            'POST',
            reviewPath(id),
            { action: 'approve' },
            { 'If-Match': stale },
          );
          expect([refused.status, refused.json.error, refused.json.version, refused.headers['etag']]).toEqual(
            [409, 'Conflict: plan has been updated. Please review the latest version.', 2, '"2"'],
          );
        }
        await desktop.approve();
        await desktop.shows('TASK_STATUS_COMPLETED');
        expect((await desktop.task(id)).metadata).toMatchObject({ plan_version: 2 });
      },
      TIMEOUT_MS,
    );

    test(
      'a reload rebuilds the conversation from the events of the session and finds the open review',
      async () => {
        const desktop = await openClient();
        const first = unique('Reload, first turn');
        await desktop.ask(first);
        await desktop.approve();
        await desktop.shows('TASK_STATUS_COMPLETED');
        const second = unique('Reload, second turn');
        const id = await desktop.ask(second);
        await desktop.feedback('Only open sources');
        const before = await desktop.conversation();
        expect(before).toEqual([first, PLAN, second, PLAN, 'Only open sources', REVISED]);

        await desktop.page.reload();
        await desktop.shows('reviewing');

        expect(await desktop.conversation()).toEqual(before);
        expect(await desktop.page.evaluate('[app.taskId, app.version]')).toEqual([id, 2]);
        await desktop.approve();
        await desktop.shows('TASK_STATUS_COMPLETED');
        await desktop.told('done');
        // It was told what came after what the session had told it, and nothing of that again.
        expect(await desktop.conversation()).toEqual(before);
        expect((await desktop.frames())[0]?.name).toBe('RESEARCH_PLAN_APPROVED');
      },
      TIMEOUT_MS,
    );

    test.each(['own', 'new'] as const)(
      'a gateway killed and started again loses and doubles nothing for an EventSource that resumes by %s means',
      async (resume) => {
        const query = unique(`Killed, ${resume}`);
        const release = holdModel(query, 'decompose');
        const desktop = await openClient({ resume });
        const id = await desktop.ask(query);
        await desktop.approve();
        await until(() => product.model.calls(query, 'decompose').length === 1);
        await desktop.told('RESEARCH_PLAN_APPROVED');

        await gateway().kill();
        release();
        // Events come while nobody can be told of them.
        await until(() => product.model.calls(query, 'write').length === 1);
        await gateway().restart();

        await desktop.told('done');
        await expectAllOnce(desktop, id);
        const [one, ...more] = desktop.streams();
        expect(one?.url()).not.toContain('last_event_id');
        expect(more.length).toBeGreaterThan(0);
        expect(more.every((each) => each.url().includes('last_event_id') === (resume === 'new'))).toBe(true);
        await desktop.shows('TASK_STATUS_COMPLETED');
      },
      TIMEOUT_MS,
    );

    test(
      'a gateway that is stopped in order and started again is no end of the events either',
      async () => {
        const desktop = await openClient();
        const id = await desktop.ask(unique('Restarted'));
        await gateway().restart();
        await until(() => desktop.streams().length > 1);
        await desktop.approve();
        await desktop.told('done');
        await expectAllOnce(desktop, id);
      },
      TIMEOUT_MS,
    );

    test(
      'an EventSource left open after done asks once more, is answered 204, and is quiet then',
      async () => {
        const desktop = await openClient({ leaveOpen: true });
        const id = await desktop.ask(unique('Left open'));
        await desktop.approve();
        await desktop.told('done');
        await until(async () => (await desktop.readyState()) === CLOSED);
        const statuses = desktop.streams().map(async (each) => (await each.response())?.status());
        expect(await Promise.all(statuses)).toEqual([200, 204]);
        // The gateway asks for 2 s between two attempts.
        await stays(() => desktop.streams().length === 2, 5_000);
        await expectAllOnce(desktop, id);
      },
      TIMEOUT_MS,
    );

    test(
      'markup in query, feedback, plan and report is text for a page that shows it as text',
      async () => {
        const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
        const query = unique(markup);
        product.model.on(query, ({ kind }) => {
          if (kind === 'plan') return ready(`Plan ${markup}`);
          return kind === 'write' ? text(`## Causes\n\nThe Moon ${markup} [1].`) : undefined;
        });
        const desktop = await openClient();
        await desktop.ask(query);
        await desktop.feedback(`Please ${markup}`);
        const said = [query, `Plan ${markup}`, `Please ${markup}`, `Plan ${markup}`];
        expect(await desktop.conversation()).toEqual(said);
        await desktop.page.reload();
        await desktop.shows('reviewing');
        expect(await desktop.conversation()).toEqual(said);
        await desktop.approve();
        await desktop.shows('TASK_STATUS_COMPLETED');
        expect(await desktop.page.locator('#conversation :is(img, script), #report :is(img, script)').count()).toBe(0);
        expect(await desktop.page.title()).toBe('Desktop client');
      },
      TIMEOUT_MS,
    );
  },
);

describe('what a page of another origin may send and read', () => {
  const openClient = (apiKey?: string) =>
    openPage({
      pageUrl: `http://localhost:${pages.port}/`,
      gatewayUrl: product.stack.gatewayUrl,
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
    const desktop = await openClient(keys.ada);
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
    const desktop = await openClient(keys.busy);
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
      const source = new EventSource('${product.stack.gatewayUrl}/api/v1/stream/sse?workflow_id=task-1&api_key=wrong');
      source.onerror = () => resolve(source.readyState);
    })`);
    expect(state).toBe(CLOSED);
    expect((await desktop.streams()[0]?.response())?.status()).toBe(401);
    await stays(() => desktop.streams().length === 1, 3_000);
  });
});

describe('while auth is off, a page from elsewhere', () => {
  async function openReview(): Promise<{ id: string; desktop: Desktop }> {
    const pageUrl = `http://localhost:${pages.port}/`;
    const desktop = await openPage({ pageUrl, gatewayUrl: open.url ?? '' });
    return { id: await desktop.ask(unique('Not yours')), desktop };
  }

  async function expectUntouched(desktop: Desktop, id: string): Promise<void> {
    const { json } = await desktop.call('GET', reviewPath(id));
    expect([json.status, json.version]).toEqual(['reviewing', 1]);
    expect((await desktop.call('POST', `/api/v1/tasks/${id}/cancel`, {})).status).toBe(202);
  }

  test(
    'is refused with 403 and cannot approve, by requests that need no preflight either',
    async () => {
      const { id, desktop } = await openReview();
      const evil = await openPage({ pageUrl: `http://${EVIL}:${pages.port}/`, gatewayUrl: open.url ?? '' });
      const refusal = [403, 'Origin not allowed'];
      for (const [method, body] of [['GET'], ['POST', { action: 'approve' }]] as const) {
        const answer = await evil.call(method, reviewPath(id), body);
        expect([answer.status, answer.json.error]).toEqual(refusal);
      }
      const request = evil.page.waitForResponse((each) => each.request().method() === 'POST');
      await evil.page.evaluate(`fetch('${open.url}${reviewPath(id)}', {
      method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' }, body: '{"action":"approve"}',
    }).then(() => null)`);
      expect((await request).status()).toBe(403);
      const state = await evil.page.evaluate(`new Promise((resolve) => {
      const source = new EventSource('${open.url}/api/v1/stream/sse?workflow_id=${id}');
      source.onerror = () => resolve(source.readyState);
      source.onopen = () => resolve(source.readyState);
    })`);
      expect(state).toBe(CLOSED);
      await expectUntouched(desktop, id);
    },
    TIMEOUT_MS,
  );

  test(
    'is refused with 403 where its name was bound to loopback anew (DNS rebinding)',
    async () => {
      const { id, desktop } = await openReview();
      const rebound = `http://${EVIL}:${new URL(open.url ?? '').port}`;
      const context = await browser.newContext();
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
    },
    TIMEOUT_MS,
  );

  test(
    'is refused in a sandbox without an origin of its own',
    async () => {
      const { id, desktop } = await openReview();
      const evil = await openPage({ pageUrl: `http://${EVIL}:${pages.port}/`, gatewayUrl: open.url ?? '' });
      const status = await evil.page.evaluate(`new Promise((resolve) => {
      addEventListener('message', ({ data }) => resolve(data));
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts';
      frame.srcdoc = \`<script>fetch('${open.url}${reviewPath(id)}', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"action":"approve"}',
      }).then(({ status }) => parent.postMessage(status, '*'), (error) => parent.postMessage(String(error), '*'))<\\/script>\`;
      document.body.append(frame);
    })`);
      expect(status).toBe(403);
      await expectUntouched(desktop, id);
    },
    TIMEOUT_MS,
  );
});
