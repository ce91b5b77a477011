import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { BROWSER_MS } from './support/browser.ts';
import type { Desktop, DesktopOptions } from './support/desktop.ts';
import { type DesktopRig, startDesktopRig } from './support/desktop-rig.ts';
import { PLAN, REVISED, ready, text } from './support/model.ts';
import { readmeBlock } from './support/readme.ts';
import { stays, until } from './support/until.ts';

/** `readyState` of an `EventSource`. */
const OPEN = 1;
const CLOSED = 2;

vi.setConfig({ testTimeout: 90_000 });

let rig: DesktopRig;
beforeAll(async () => {
  rig = await startDesktopRig({ '/example': readmeBlock('A browser or desktop app', 'html') });
}, BROWSER_MS);
afterEach(() => rig.closePages());
afterAll(() => rig?.stop());

const unique = (query: string) => `${query} ${randomUUID()}`;
const reviewPath = (id: string) => `/api/v1/tasks/${id}/review`;

/** A gate that the model's answers of one kind wait at. */
function holdModel(query: string, kind: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  rig.product.model.on(query, async (call) => {
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
    const gateway = () => (withKey ? rig.guarded : rig.open);
    const openClient = async (more: Partial<DesktopOptions> = {}) =>
      rig.openPage({
        gatewayUrl: gateway().url ?? '',
        ...(withKey ? { apiKey: await rig.createKey() } : {}),
        ...more,
      });

    test('approves at once on RESEARCH_PLAN_READY with If-Match: 0, and polls the task to its report', async () => {
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
    });

    test('goes on with the ETag of a feedback; 0 and other stale versions are a 409 that it can read', async () => {
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
        expect([refused.status, refused.json.error, refused.json.version, refused.headers['etag']]).toEqual([
          409,
          'Conflict: plan has been updated. Please review the latest version.',
          2,
          '"2"',
        ]);
      }
      await desktop.approve();
      await desktop.shows('TASK_STATUS_COMPLETED');
      expect((await desktop.task(id)).metadata).toMatchObject({ plan_version: 2 });
    });

    test('a reload rebuilds the conversation from the events of the session and finds the open review', async () => {
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
    });

    test.each([
      { resume: 'own', how: 'EventSource comes back with its own Last-Event-ID' },
      { resume: 'new', how: 'a new EventSource names last_event_id' },
    ] as const)(
      'nothing is lost or doubled over a gateway killed and started again: $how',
      async ({ resume }) => {
        const query = unique(`Killed, ${resume}`);
        const release = holdModel(query, 'decompose');
        const desktop = await openClient({ resume });
        const id = await desktop.ask(query);
        await desktop.approve();
        await until(() => rig.product.model.calls(query, 'decompose').length === 1);
        await desktop.told('RESEARCH_PLAN_APPROVED');

        await gateway().kill();
        release();
        // Events come while nobody can be told of them.
        await until(() => rig.product.model.calls(query, 'write').length === 1);
        await gateway().restart();

        await desktop.told('done');
        await expectAllOnce(desktop, id);
        const [one, ...more] = desktop.streams();
        expect(one?.url()).not.toContain('last_event_id');
        expect(more.length).toBeGreaterThan(0);
        expect(more.every((each) => each.url().includes('last_event_id') === (resume === 'new'))).toBe(true);
        await desktop.shows('TASK_STATUS_COMPLETED');
      },
    );

    test('a store that was away answers 503, after which a new EventSource goes on where the last one was', async () => {
      const desktop = await openClient({ resume: 'new' });
      const id = await desktop.ask(unique('Store away'));
      const { redis } = rig.product.stack;
      await redis.kill();
      try {
        // Open streams wait for the store; those that are made meanwhile are refused.
        await gateway().restart();
        await until(async () => {
          const answers = desktop.streams().map((each) => each.existingResponse()?.status());
          return answers.includes(503);
        });
      } finally {
        await redis.restart();
      }
      await until(async () => (await desktop.readyState()) === OPEN);
      await desktop.approve();
      await desktop.told('done');
      await expectAllOnce(desktop, id);
    });

    test('a gateway that is stopped in order and started again is no end of the events either', async () => {
      const desktop = await openClient();
      const id = await desktop.ask(unique('Restarted'));
      await gateway().restart();
      await until(() => desktop.streams().length > 1);
      await desktop.approve();
      await desktop.told('done');
      await expectAllOnce(desktop, id);
    });

    test('an EventSource left open after done asks once more, is answered 204, and is quiet then', async () => {
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
    });

    test('markup in query, feedback, plan and report is text for a page that shows it as text', async () => {
      const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
      const query = unique(markup);
      rig.product.model.on(query, ({ kind }) => {
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
      expect(
        await desktop.page.locator('#conversation :is(img, script), #report :is(img, script)').count(),
      ).toBe(0);
      expect(await desktop.page.title()).toBe('Desktop client');
    });

    test('a reload after the end shows the conversation and the report, and is told done and nothing else', async () => {
      const desktop = await openClient();
      const query = unique('Reload at the end');
      await desktop.ask(query);
      await desktop.approve();
      await desktop.told('done');
      await desktop.page.reload();
      await desktop.shows('TASK_STATUS_COMPLETED');
      expect(await desktop.conversation()).toEqual([query, PLAN]);
      expect(await desktop.report()).toContain('[1]');
      await desktop.told('done');
      expect((await desktop.frames()).map(({ name }) => name)).toEqual(['done']);
      const asked = desktop.streams().length;
      await stays(() => desktop.streams().length === asked, 3_000);
    });

    test('the example of the README runs as it stands: plan, feedback, approval, report', async () => {
      const context = await rig.browser.newContext();
      const page = await context.newPage();
      const errors: Error[] = [];
      page.on('pageerror', (error) => errors.push(error));
      const key = withKey ? await rig.createKey() : '';
      await page.addInitScript(`localStorage.setItem('plangate_key', '${key}')`);
      await page.goto(`http://localhost:${rig.pages.port}/example?gateway=${gateway().url}`);
      const said = () => page.locator('#said li').allTextContents();
      await until(async () => (await said()).includes(PLAN));
      await page.fill('#message', 'Only <b>open</b> sources');
      await page.click('#feedback');
      await until(async () => (await said()).includes(REVISED));
      expect(await said()).toEqual([PLAN, 'Only <b>open</b> sources', REVISED]);
      await page.click('#approve');
      await until(async () => (await page.textContent('#report'))?.includes('[1]') ?? false);
      expect((await said())[3]).toBe('Got it — starting research');
      expect(errors).toEqual([]);
      await context.close();
    });
  },
);
