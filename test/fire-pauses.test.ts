import type { WorkflowId } from '@plangate/contracts';
import { type App, type AppName, startApp } from '@plangate/devstack';
import { reviewKeys } from '@plangate/review/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Client, connectClient } from './support/client.ts';
import { ready } from './support/model.ts';
import { type Product, startProduct } from './support/product.ts';
import { type RedisProxy, startRedisProxy } from './support/redis-proxy.ts';
import { expectResearchedOnce } from './support/resilience.ts';
import { openStored, type Stored } from './support/stored.ts';
import { until } from './support/until.ts';

/** Longer than a process may be stopped between two of its steps (10 s). */
const LONG_PAUSE_MS = 10_500;
const SLOW = { timeout: 120_000 };
/** A lock that a stopped process loses soon, and gateways that look soon after what another one left. */
const SETTINGS = `
review:
  lock_ttl_seconds: 1
sweep:
  interval_seconds: 1
`;

let product: Product;
let stored: Stored;
let proxy: RedisProxy;
/** The gateway that is stopped, and another one beside it that goes on. */
let stopped: App & Client;
let other: App & Client;
beforeAll(async () => {
  product = await startProduct({
    settings: SETTINGS,
    stack: { apps: ['llm-service', 'orchestrator'] satisfies AppName[] },
  });
  stored = await openStored(product.stack.redis.url);
  proxy = await startRedisProxy(Number(new URL(product.stack.redis.url).port));
  stopped = await startGateway({ REDIS_URL: proxy.url });
  other = await startGateway({});
});
afterEach(() => {
  proxy.letPass();
  process.kill(stopped.pid, 'SIGCONT');
});
afterAll(async () => {
  await stopped?.stop();
  await other?.stop();
  await proxy?.stop();
  stored?.close();
  await product?.stop();
});

async function startGateway(env: Record<string, string>): Promise<App & Client> {
  const { GATEWAY_PORT: _, ...settings } = product.stack.env;
  const app = await startApp('gateway', { env: { ...settings, ...env } });
  return Object.assign(app, connectClient(app.url ?? ''));
}

async function openReview(query: string): Promise<string> {
  const id = await other.submit(query, { require_review: true });
  await other.review(id);
  return id;
}

const pause = (app: App) => process.kill(app.pid, 'SIGSTOP');
const goOn = (app: App) => process.kill(app.pid, 'SIGCONT');
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const seen = (id: string) => stored.redis.exists(reviewKeys(id as WorkflowId).lock);

describe('P02 a gateway that is stopped during the model call of a feedback, until its lock has expired', () => {
  test(
    'is refused when it goes on: what another gateway committed meanwhile stands, one round only',
    SLOW,
    async () => {
      const query = 'Stopped in the model call';
      const id = await openReview(query);
      const late = Promise.withResolvers<void>();
      product.model.on(query, async ({ kind, prompt }) => {
        if (kind !== 'plan' || prompt.includes('Round 0 of')) return undefined;
        if (!prompt.includes('From the stopped one')) return ready('Plan of the other one');
        await late.promise;
        return ready('Plan of the stopped one');
      });
      const first = stopped.feedback(id, 'From the stopped one', '"1"');
      await until(() =>
        product.model.calls(query).some(({ prompt }) => prompt.includes('From the stopped one')),
      );
      pause(stopped);
      const began = performance.now();
      await until(async () => (await seen(id)) === 0, 60_000);
      const expired = performance.now() - began;

      const second = await other.feedback(id, 'From the other one', '"1"');
      expect([second.status, second.json.version, second.json.current_plan]).toEqual([
        200,
        2,
        'Plan of the other one',
      ]);
      const before = await stored.dump(id);
      goOn(stopped);
      late.resolve();

      const { status, json, headers } = await first;
      expect([status, json.error, json.code, json.version]).toEqual([
        409,
        'Conflict: state has been modified',
        'version_conflict',
        2,
      ]);
      expect(headers.get('etag')).toBe('"2"');
      expect(withoutRefusals(await stored.dump(id))).toEqual(withoutRefusals(before));
      const review = await other.review(id);
      expect([review.round, review.version, review.rounds.length]).toEqual([2, 2, 3]);
      expect((await other.types(id)).filter((type) => type === 'RESEARCH_PLAN_UPDATED')).toHaveLength(1);
      report({ 'lock of a stopped gateway expired after': expired });

      // It serves on, and may commit what is decided on what is true now.
      expect((await stopped.approve(id, '"2"')).status).toBe(200);
      await expectResearchedOnce(other, id);
    },
  );

  test(
    'is told 409 where the plan was approved meanwhile, and the approved plan is what runs',
    SLOW,
    async () => {
      const query = 'Approved while stopped';
      const id = await openReview(query);
      const late = Promise.withResolvers<void>();
      product.model.on(query, async ({ kind, prompt }) => {
        if (kind !== 'plan' || !prompt.includes('Too late')) return undefined;
        await late.promise;
        return ready('Plan of the stopped one');
      });
      const first = stopped.feedback(id, 'Too late');
      await until(() => product.model.calls(query).some(({ prompt }) => prompt.includes('Too late')));
      pause(stopped);
      await until(async () => (await seen(id)) === 0);
      const { plan_sha256 } = await other.review(id);
      expect((await other.approve(id, '"1"')).status).toBe(200);
      goOn(stopped);
      late.resolve();
      const { status, json } = await first;
      expect([status, json.error]).toEqual([409, 'Review already approved']);
      await expectResearchedOnce(other, id);
      expect((await other.task(id)).metadata['plan_sha256']).toBe(plan_sha256);
    },
  );
});

describe('a gateway that is stopped for over 10 s between the look and the commit', () => {
  const writes: Record<string, (id: string) => ReturnType<Client['approve']>> = {
    approve: (id) => stopped.approve(id),
    edit: (id) => stopped.act(id, { action: 'edit', plan: 'Mine' }),
    reject: (id) => stopped.act(id, { action: 'reject' }),
    extend: (id) => stopped.act(id, { action: 'extend', seconds: 60 }),
    pause: (id) => stopped.control(id, 'pause'),
  };

  test('gives up with 503 instead of acting on what it saw, and nothing is written', SLOW, async () => {
    const ids = await Promise.all(
      Object.keys(writes).map((name) => openReview(`Stopped before the commit of ${name}`)),
    );
    const before = await Promise.all(ids.map((id) => stored.dump(id)));
    // All look before the first reply comes; then the process is stopped.
    const looked = proxy.holdFrom(...ids.map((id) => `{${id}}`));
    const answers = Object.values(writes).map((write, at) => write(ids[at] ?? ''));
    await looked;
    pause(stopped);
    await wait(LONG_PAUSE_MS);
    proxy.letPass();
    goOn(stopped);
    const codes = new Set<string>();
    for (const { status, json, headers } of await Promise.all(answers)) {
      codes.add(json.code);
      expect([status, headers.get('retry-after') !== null]).toEqual([503, true]);
    }
    for (const code of codes) expect(['request_stalled', 'store_unavailable']).toContain(code);
    expect(await Promise.all(ids.map((id) => stored.dump(id)))).toEqual(before);
    process.stdout.write(`codes after a pause: ${[...codes].join(', ')}\n`);

    // The same requests again are answered, and what is approved runs.
    const again = await Promise.all(Object.values(writes).map((write, at) => write(ids[at] ?? '')));
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 202]);
    await expectResearchedOnce(other, ids[0] ?? '');
  });

  test('a submit too: nothing is started that the sweep may have given up meanwhile', SLOW, async () => {
    const query = 'Submitted by a stopped one';
    const recording = proxy.holdFrom(query);
    const answer = stopped.submit(query, { require_review: true }).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    await recording;
    pause(stopped);
    await wait(LONG_PAUSE_MS);
    proxy.letPass();
    goOn(stopped);
    expect(await answer).toMatch(/^503 /);
    expect(product.model.calls(query)).toEqual([]);
    expect((await stopped.ask('/health')).status).toBe(200);
  });
});

describe('a gateway that is stopped with a decision that it has recorded but not delivered', () => {
  test('is not waited for: another gateway delivers it, and the research runs once', SLOW, async () => {
    const id = await openReview('Stopped before the delivery');
    // The commit happens; its reply does not come before the process is stopped.
    const committing = proxy.holdFrom('"action":"approve"');
    const answer = stopped.approve(id);
    await committing;
    pause(stopped);
    await until(async () => (await other.review(id)).status === 'approved');
    await expectResearchedOnce(other, id);

    proxy.letPass();
    goOn(stopped);
    const { status } = await answer;
    expect([200, 503]).toContain(status);
    const again = await stopped.approve(id);
    expect([again.status, again.json]).toEqual([200, { status: 'approved', message: 'Research started' }]);
    await expectResearchedOnce(other, id);
  });
});

/** A refusal is audited, and the tokens of a model call are counted: that is all that a refused request may write. */
function withoutRefusals(dump: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(dump).filter(([key]) => !/^task:|:(refused|lock)$/.test(key)));
}

/** Times in milliseconds, for the log of the run. */
function report(times: Record<string, number>): void {
  const rounded = Object.entries(times).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
  process.stdout.write(`${rounded.join(', ')}\n`);
}
