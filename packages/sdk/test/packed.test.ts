import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { apiKeyStore } from '@plangate/http';
import { connectRedis } from '@plangate/redis';
import type { Browser } from 'playwright-core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER_MS, startBrowser } from '../../../test/support/browser.ts';
import { type Product, startProduct } from '../../../test/support/product.ts';
import { readmeBlock } from '../../../test/support/readme.ts';
import { until } from '../../../test/support/until.ts';
import { buildAndPack, installPacked, oldestNode, PROJECT, pack, run } from './packing.ts';

/** A walk that runs alike in Node and in a page; the published package is all that it has. */
const WALK = `
import { ConflictError, NotFoundError, Plangate } from '@plangate/sdk';

export async function walk(baseUrl, apiKey) {
  const plangate = new Plangate({ baseUrl, apiKey });
  const query = 'What causes tides? ' + Math.random();
  const task = await plangate.tasks.submit({ query, context: { require_review: true } });
  const plan = await plangate.review.waitUntilReady(task);
  const revised = await plangate.review.feedback(plan, 'Only open sources');
  const conflict = await plangate.review.approve(plan).catch((error) => error);
  const missing = await plangate.tasks.get('task-unknown').catch((error) => error);
  const names = [];
  for await (const { event } of plangate.events.stream(task)) {
    names.push(event);
    if (event === 'RESEARCH_PLAN_UPDATED') await plangate.review.approve(revised);
  }
  const done = await plangate.tasks.wait(task);
  return {
    conflict: conflict instanceof ConflictError && conflict.currentVersion,
    missing: missing instanceof NotFoundError && typeof missing.requestId === 'string',
    names,
    status: done.status,
    cited: done.result.includes('[1]'),
  };
}
`;
const WALKED = {
  conflict: 2,
  missing: true,
  names: expect.arrayContaining(['WORKFLOW_STARTED', 'RESEARCH_PLAN_APPROVED', 'thread.message.completed']),
  status: 'TASK_STATUS_COMPLETED',
  cited: true,
};

let work: string;
let packed: string;
let consumer: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'plangate-packed-'));
  packed = await buildAndPack('packages/sdk', work);
  const parser = await pack(join(PROJECT, 'node_modules/eventsource-parser'), work);
  consumer = await installPacked(work, [packed, parser]);
  writeFileSync(join(consumer, 'walk.js'), WALK);
}, 120_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe('the packed file', () => {
  test('holds the module, its types, a readme and the licence, and needs nothing but the parser', () => {
    const folder = join(consumer, 'node_modules/@plangate/sdk');
    for (const file of ['index.js', 'index.d.ts', 'README.md', 'LICENSE']) {
      expect(existsSync(join(folder, file)), file).toBe(true);
    }
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(manifest.dependencies).toEqual({ 'eventsource-parser': expect.any(String) });
    expect(manifest).not.toHaveProperty('private');
    const text =
      readFileSync(join(folder, 'index.js'), 'utf8') + readFileSync(join(folder, 'index.d.ts'), 'utf8');
    expect(text).not.toMatch(/zod|@plangate\/contracts|process\.env|node:/);
  });

  test('has no fault that publint knows', async () => {
    const { messages, pkg } = await publint({ pkgDir: join(work, 'built'), strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test('says of every type, class and function what it is', () => {
    const lines = readFileSync(join(consumer, 'node_modules/@plangate/sdk/index.d.ts'), 'utf8').split('\n');
    const listed = lines.find((line) => line.startsWith('export type {'))?.match(/\w+/g) ?? [];
    const exported = new Set(listed.slice(2));
    const silent: string[] = [];
    let described = 0;
    for (const [at, line] of lines.entries()) {
      const [, published, name] =
        /^(export )?(?:declare )?(?:interface|type|class|function) (\w+)/.exec(line) ?? [];
      if (name === undefined || !(published || exported.has(name))) continue;
      if (lines[at - 1]?.endsWith('*/')) described += 1;
      else silent.push(name);
    }
    expect(silent).toEqual([]);
    expect(described).toBeGreaterThan(60);
  });

  test('has types that every way of resolving modules finds', async () => {
    await run(join(PROJECT, 'node_modules/.bin/attw'), [packed, '--profile', 'esm-only'], work);
  }, 60_000);

  test('its types compile strictly, with the libraries of Node and with those of browsers', async () => {
    writeFileSync(join(consumer, 'use.ts'), USE);
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--exactOptionalPropertyTypes'];
    const module = ['--module', 'nodenext', '--target', 'es2022'];
    await run(
      tsc,
      [...strict, ...module, '--lib', 'es2022,dom,dom.iterable', '--types', '', 'use.ts'],
      consumer,
    );
    const types = ['--types', 'node', '--typeRoots', join(PROJECT, 'node_modules/@types')];
    await run(tsc, [...strict, ...module, '--lib', 'es2022', ...types, '--skipLibCheck', 'use.ts'], consumer);
  }, 60_000);

  test('its types are those of the contracts', async () => {
    const wire = readFileSync(join(PROJECT, 'packages/sdk/src/wire.ts'), 'utf8');
    const names = [...wire.matchAll(/export type (\w+) =/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    const lines = names.flatMap((name) => [
      `export const a${name} = (value: built.${name}): wire.${name} => value;`,
      `export const b${name} = (value: wire.${name}): built.${name} => value;`,
    ]);
    const file = join(work, 'compare.ts');
    const imports = [
      `import type * as built from '${join(work, 'built/index.d.ts')}';`,
      `import type * as wire from '${join(PROJECT, 'packages/sdk/src/wire.ts')}';`,
    ];
    writeFileSync(file, [...imports, ...lines].join('\n'));
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];
    const more = ['--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node'];
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    await run(tsc, [...options, ...more, '--typeRoots', join(PROJECT, 'node_modules/@types'), file], work);
  }, 60_000);
});

describe('installed from the packed file, against a gateway that wants a key', () => {
  let product: Product;
  let apiKey: string;
  beforeAll(async () => {
    product = await startProduct({ stack: { skipAuth: false } });
    const redis = connectRedis(product.stack.redis.url);
    await until(() => redis.status === 'ready');
    apiKey = (await apiKeyStore(redis).create({ owner: { user: 'ada', tenant: 'acme' } })).key;
    redis.disconnect();
  });
  afterAll(() => product.stop());

  test.each([
    ['this Node', async () => process.execPath],
    ['the oldest Node that it names', () => oldestNode(join(consumer, 'node_modules/@plangate/sdk'))],
  ])(
    'a task walks from submit to its cited report in %s',
    async (_, node) => {
      const { gatewayUrl } = product.stack;
      const program = `import { walk } from './walk.js'; console.log(JSON.stringify(await walk('${gatewayUrl}', '${apiKey}')));`;
      const out = await run(await node(), ['--input-type=module', '--eval', program], consumer);
      expect(JSON.parse(out)).toEqual(WALKED);
    },
    120_000,
  );

  test('the example of the README runs as it stands', async () => {
    writeFileSync(join(consumer, 'example.ts'), readmeBlock('TypeScript SDK', 'ts'));
    const env = { ...process.env, PLANGATE_URL: product.stack.gatewayUrl, PLANGATE_API_KEY: apiKey };
    const out = await run(process.execPath, ['example.ts'], consumer, env);
    expect(out).toContain('The plan is at version 2 now.');
    expect(out).toContain('TASK_STATUS_COMPLETED # ');
  });

  test('the example of its own README runs as it stands', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    writeFileSync(join(consumer, 'own-example.ts'), readmeBlock('@plangate/sdk', 'ts', readme));
    const env = { ...process.env, PLANGATE_URL: product.stack.gatewayUrl, PLANGATE_API_KEY: apiKey };
    expect(await run(process.execPath, ['own-example.ts'], consumer, env)).toContain('WORKFLOW_COMPLETED');
  });

  describe('in a browser, from a page of another origin', () => {
    let pages: Server;
    let pageUrl: string;
    let browser: Browser;
    beforeAll(async () => {
      pages = await servePages(consumer);
      pageUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
      browser = await startBrowser();
    }, BROWSER_MS);
    afterAll(async () => {
      await browser?.close();
      pages?.closeAllConnections();
      pages?.close();
    });

    test('a redirect is told here too, where nothing can be read of it', async () => {
      const page = await browser.newPage();
      await page.goto(pageUrl);
      const told = await page.evaluate(
        (url) => (globalThis as unknown as Walker).submit(url).catch((error: Error) => error.message),
        pageUrl,
      );
      expect(told).toContain('the answer is a redirect, which is not followed');
      await page.close();
    }, 60_000);

    test('the same walk, with errors that can be read', async () => {
      const page = await browser.newPage();
      await page.goto(pageUrl);
      const walked = await page.evaluate(
        ([url, key]) => (globalThis as unknown as Walker).walk(url ?? '', key ?? ''),
        [product.stack.gatewayUrl, apiKey],
      );
      expect(walked).toEqual(WALKED);
      await page.close();
    }, 60_000);
  });
});

interface Walker {
  submit(baseUrl: string): Promise<unknown>;
  walk(baseUrl: string, apiKey: string): Promise<unknown>;
}

const USE = `
import { ConflictError, Plangate, RateLimitError, type Review, StatusError, type StreamEvent, type TaskBody } from '@plangate/sdk';

const plangate = new Plangate({ baseUrl: 'http://localhost:8080', apiKey: 'k', timeoutSeconds: 5, maxRetries: 0 });
export async function use(): Promise<TaskBody> {
  const { task_id } = await plangate.tasks.submit({ query: 'q', mode: 'standard', context: { require_review: true } });
  const review: Review = await plangate.review.waitUntilReady(task_id);
  const revised = await plangate.review.feedback(review, 'm');
  await plangate.review.approve(revised).catch((error: unknown) => {
    if (error instanceof ConflictError) { const version: number | null = error.currentVersion; return version; }
    throw error;
  });
  await plangate.review.reject(task_id, { version: 3, reason: 'r' });
  await plangate.review.edit(task_id, 'plan', { unconditional: true });
  const none: undefined = undefined;
  await plangate.tasks.list({ limit: none, status: none, session_id: none, signal: none });
  await plangate.tasks.submit({ query: 'q', session_id: none, context: none }, { idempotencyKey: none });
  await plangate.review.get(task_id, { wait: none });
  // @ts-expect-error: an id alone does not say what was seen
  await plangate.review.approve(task_id);
  // @ts-expect-error: no such mode
  await plangate.tasks.submit({ query: 'q', mode: 'fast' });
  for await (const event of plangate.events.stream(task_id)) text(event);
  const done = await plangate.tasks.wait(task_id);
  const source: string | undefined = done.metadata.citations?.[0]?.url;
  // @ts-expect-error: no such field of a source
  done.metadata.citations?.[0]?.href;
  return source === undefined ? done : plangate.tasks.get(done);
}
function text(event: StreamEvent): string {
  switch (event.event) {
    case 'thread.message.delta': return event.data.delta;
    case 'thread.message.completed': return event.data.response;
    case 'gap': return String(event.data.earliest);
    case 'workflow.paused': return event.data.type + (event.data.payload?.by ?? '');
    case 'RESEARCH_PLAN_READY': return String(event.data.payload?.version satisfies number | undefined);
    case 'TOOL_OBSERVATION': return event.data.payload?.passages?.[0]?.title ?? '';
    // @ts-expect-error: an event of another name
    case 'WORKFLOW_PAUSED': return '';
    default: return event.data.message;
  }
}
export function advice(error: StatusError): string | number | null {
  if (error instanceof ConflictError) return error.currentVersion;
  if (error instanceof RateLimitError) return error.retryAfterSeconds;
  return error.code;
}
export function standing(status: Review['status']): boolean {
  switch (status) {
    case 'reviewing': return true;
    case 'approved': case 'rejected': case 'cancelled': case 'timed_out': return false;
    default: return status satisfies never;
  }
}
`;

const PAGE = `<!doctype html>
<script type="importmap">{ "imports": {
  "@plangate/sdk": "/node_modules/@plangate/sdk/index.js",
  "eventsource-parser": "/node_modules/eventsource-parser/dist/index.js"
} }</script>
<script type="module">
  import { Plangate } from '@plangate/sdk';
  import { walk } from '/walk.js';
  globalThis.walk = walk;
  globalThis.submit = (baseUrl) => new Plangate({ baseUrl }).tasks.submit({ query: 'q' });
</script>
`;

/** A web server whose page has what is installed in `folder`, as a bundler would leave it. */
function servePages(folder: string): Promise<Server> {
  const server = createServer((req, res) => {
    const path = new URL(req.url ?? '/', 'http://localhost').pathname;
    const file = join(folder, path);
    if (path.startsWith('/api/')) res.writeHead(302, { Location: '/' }).end();
    else if (path === '/') res.setHeader('Content-Type', 'text/html').end(PAGE);
    else if (existsSync(file) && extname(file) === '.js') {
      res.setHeader('Content-Type', 'text/javascript').end(readFileSync(file));
    } else res.writeHead(404).end();
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
