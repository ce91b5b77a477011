import { readFileSync } from 'node:fs';
import type { TaskBody, WorkflowEvent } from '@plangate/contracts';
import type { Browser, Page, Request } from 'playwright-core';
import { until } from './until.ts';

const read = (name: string) =>
  readFileSync(new URL(`../fixtures/desktop-client/${name}`, import.meta.url), 'utf8');

/** The page of the desktop client, for `servePages`. */
export const DESKTOP_PAGE = { '/': read('index.html'), '/client.js': read('client.js') };

export interface DesktopOptions {
  /** Where its page is served. */
  pageUrl: string;
  gatewayUrl: string;
  apiKey?: string;
  /** `own`: EventSource comes back by itself; `new`: another one is made, with `last_event_id` in its query. */
  resume?: 'own' | 'new';
  /** Leaves its EventSource open after `done`. */
  leaveOpen?: boolean;
}

export interface Frame {
  id: string;
  name: string;
  data: string;
}

export interface PageAnswer {
  status: number;
  /** The headers that the page may read. */
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  json: any;
}

/** The desktop client in a browser, driven as a person drives it. */
export interface Desktop {
  page: Page;
  /** Submits a task for review; its id, once its plan is shown. */
  ask(query: string): Promise<string>;
  feedback(message: string): Promise<void>;
  approve(): Promise<void>;
  /** Waits for a status such as `reviewing` or `TASK_STATUS_COMPLETED`. */
  shows(status: string): Promise<void>;
  conversation(): Promise<string[]>;
  report(): Promise<string>;
  /** What its event sources have told so far. */
  frames(): Promise<Frame[]>;
  told(name: string): Promise<void>;
  /** `readyState` of its EventSource. */
  readyState(): Promise<number>;
  polls(): Promise<number>;
  /** The requests for event streams that the browser has made. */
  streams(): Request[];
  /** A request by `fetch` from the page, with its key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<PageAnswer>;
  task(id: string): Promise<TaskBody>;
  events(id: string): Promise<WorkflowEvent[]>;
  close(): Promise<void>;
}

/** Opens the client in a profile of its own. */
export async function openDesktop(browser: Browser, options: DesktopOptions): Promise<Desktop> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const streams: Request[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/stream/sse')) streams.push(request);
  });
  const url = new URL(options.pageUrl);
  url.search = new URLSearchParams({
    gateway: options.gatewayUrl,
    poll_ms: '100',
    retry_ms: '100',
    resume: options.resume ?? 'own',
    ...(options.leaveOpen ? { leave_open: '' } : {}),
  }).toString();
  if (options.apiKey) {
    await page.addInitScript(`localStorage.setItem('api_key', ${JSON.stringify(options.apiKey)})`);
  }
  await page.goto(url.href);

  const frames = (): Promise<Frame[]> => page.evaluate('app.frames');
  const told = (name: string) => until(async () => (await frames()).some((frame) => frame.name === name));
  const shows = (status: string) => until(async () => (await page.textContent('#status')) === status);
  const call: Desktop['call'] = (method, path, body = null, headers = {}) =>
    page.evaluate(`call(...${JSON.stringify([method, path, body, headers])})`);
  return {
    page,
    async ask(query) {
      await page.fill('#query', query);
      await page.click('#ask button');
      await shows('reviewing');
      return page.evaluate('app.taskId');
    },
    async feedback(message) {
      const before = (await frames()).filter(({ name }) => name === 'RESEARCH_PLAN_UPDATED').length;
      await page.fill('#message', message);
      await page.click('#answer button');
      await until(async () => {
        const told = (await frames()).filter(({ name }) => name === 'RESEARCH_PLAN_UPDATED').length;
        return told > before && (await page.evaluate('app.version')) !== 0;
      });
    },
    approve: () => page.click('#approve'),
    shows,
    conversation: () => page.locator('#conversation li').allTextContents(),
    report: async () => (await page.textContent('#report')) ?? '',
    frames,
    told,
    readyState: () => page.evaluate('app.source.readyState'),
    polls: () => page.evaluate('app.polls'),
    streams: () => streams,
    call,
    task: async (id) => (await call('GET', `/api/v1/tasks/${id}`)).json,
    events: async (id) => (await call('GET', `/api/v1/tasks/${id}/timeline`)).json.events,
    close: () => context.close(),
  };
}
