import { fileURLToPath } from 'node:url';
import type { PlanAnswer, WorkflowId } from '@plangate/contracts';
import { type App, type AppName, startApp } from '@plangate/devstack';
import { redisNow } from '@plangate/redis';
import { type Command, decide, type ReviewState, retentionSeconds, type Situation } from '@plangate/review';
import { configFile, loadStrategies } from '@plangate/service';
import { newRecord, readSubmission } from '@plangate/tasks';
import { TaskStore } from '@plangate/tasks/redis';
import { Connection, Client as EngineClient } from '@temporalio/client';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, connectClient } from './support/client.ts';
import { type Product, startProduct } from './support/product.ts';
import { openStored, type Stored } from './support/stored.ts';
import { until } from './support/until.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const THIRTY_DAYS_SECONDS = 2_592_000;
/** How far the clocks of the gateways are off. */
const SKEW_MS = 10 * MINUTE;
/** How far two looks at the same clock may be apart on a busy machine. */
const SLACK_MS = 60 * SECOND;
const SLOW = { timeout: 180_000 };
/** How long the sweep leaves a start alone; far less than the clocks are off. */
const PATIENCE_MS = 6 * SECOND;
const SETTINGS = `
sweep:
  interval_seconds: 1
  patience_seconds: ${PATIENCE_MS / SECOND}
`;

describe('P04 the deadline that was asked for is the deadline', () => {
  const NOW = Date.parse('2026-01-15T10:30:00.000Z');
  const at = (ms: number) => new Date(ms).toISOString();
  const answer: PlanAnswer = {
    message: 'Plan',
    intent: 'ready',
    plan: 'Plan',
    round: 1,
    model: 'm',
    provider: 'p',
    input_tokens: 1,
    output_tokens: 1,
  };
  const origin = {
    workflowId: 'task-1' as WorkflowId,
    owner: { user: 'ada', tenant: 'acme' },
    query: 'q',
    maxRounds: 10,
  };
  function next(state: ReviewState | null, now: number, command: Command): ReviewState {
    const outcome = decide({ state, now, feedbackInFlight: false } satisfies Situation, command);
    if (!outcome.ok) throw new Error(outcome.error);
    return outcome.state;
  }
  const opened = (timeoutSeconds: number) =>
    next(null, NOW, { type: 'create', origin, timeoutSeconds, answer, sha256: 'a'.repeat(64) });
  const extend = (state: ReviewState, now: number, seconds: number) =>
    decide(
      { state, now, feedbackInFlight: false },
      { type: 'extend', seconds, maxSecondsAhead: THIRTY_DAYS_SECONDS, by: 'ada', ifMatch: undefined },
    );
  const close = (state: ReviewState, now: number, deadline: string) =>
    next(state, now, { type: 'close', deadline, origin }).status;

  test.each([
    ['1 s', 1],
    ['15 min', 900],
    ['30 days', THIRTY_DAYS_SECONDS],
  ])(
    '%s: to the millisecond; it closes at that deadline and at no other, whatever the clock says',
    (_, seconds) => {
      const state = opened(seconds);
      expect(state.expires_at).toBe(at(NOW + seconds * SECOND));
      // A timer that fires early or late by any clock closes what it was set for.
      for (const now of [NOW, NOW + seconds * SECOND, NOW + 2 * seconds * SECOND, NOW - SKEW_MS]) {
        expect(close(state, now, at(NOW + seconds * SECOND))).toBe('timed_out');
        expect(close(state, now, at(NOW + seconds * SECOND - 1))).toBe('reviewing');
      }
    },
  );

  test.each([
    ['1 s', 1],
    ['15 min', 900],
    ['30 days', THIRTY_DAYS_SECONDS - 60],
  ])('%s, extended: the old deadline closes nothing any more, the new one does', (_, seconds) => {
    const state = opened(seconds);
    const extended = extend(state, NOW, 60);
    if (!extended.ok) throw new Error(extended.error);
    expect(extended.state.expires_at).toBe(at(NOW + (seconds + 60) * SECOND));
    expect(close(extended.state, NOW, state.expires_at)).toBe('reviewing');
    expect(close(extended.state, NOW, extended.state.expires_at)).toBe('timed_out');
  });

  test('an extension may reach 30 days ahead of now to the second, and not one further', () => {
    const state = opened(900);
    const most = THIRTY_DAYS_SECONDS - 900;
    expect(extend(state, NOW, most)).toMatchObject({ ok: true });
    expect(extend(state, NOW, most + 1)).toMatchObject({ ok: false, code: 'deadline_too_far' });
    expect(extend(state, NOW + SECOND, most + 1)).toMatchObject({ ok: true });
  });

  test.each([
    ['closed at once', 'timed_out', 0, 900 + 300],
    ['closed at its deadline', 'timed_out', 900, 300],
    ['closed after its deadline', 'rejected', 2_000, 300],
    ['approved', 'approved', 100, 3_600],
  ] as const)('a review that was %s is kept as long as the contract says', (_, status, elapsed, seconds) => {
    expect(retentionSeconds({ ...opened(900), status }, NOW + elapsed * SECOND)).toBe(seconds);
  });
});

describe('with gateways whose clocks are 10 minutes ahead and behind', () => {
  let product: Product;
  let stored: Stored;
  let gateways: Record<'ahead' | 'behind', App & Client>;
  beforeAll(async () => {
    product = await startProduct({
      settings: SETTINGS,
      stack: { apps: ['llm-service', 'orchestrator'] satisfies AppName[] },
    });
    stored = await openStored(product.stack.redis.url);
    const [ahead, behind] = await Promise.all([SKEW_MS, -SKEW_MS].map(startSkewed));
    gateways = { ahead: ahead as App & Client, behind: behind as App & Client };
  });
  afterAll(async () => {
    await Promise.all(Object.values(gateways ?? {}).map((gateway) => gateway.stop()));
    stored?.close();
    await product?.stop();
  });

  async function startSkewed(skewMs: number): Promise<App & Client> {
    const { GATEWAY_PORT: _, ...settings } = product.stack.env;
    const preload = fileURLToPath(new URL('fixtures/skewed-clock.mjs', import.meta.url));
    const env = { ...settings, NODE_OPTIONS: `--import ${preload}`, CLOCK_SKEW_MS: String(skewMs) };
    const app = await startApp('gateway', { env });
    return Object.assign(app, connectClient(app.url ?? ''));
  }
  const now = () => redisNow(stored.redis);
  async function expectNow(time: string | number): Promise<void> {
    const ms = typeof time === 'number' ? time : Date.parse(time);
    expect(Math.abs(ms - (await now()))).toBeLessThan(SLACK_MS);
  }
  const both = ['ahead', 'behind'] as const;

  test.each(both)('the clock of the one %s is off indeed', async (which) => {
    const { json } = await gateways[which].ask('/health');
    const off = Date.parse(json.time) - (await now());
    expect(Math.abs(off - (which === 'ahead' ? SKEW_MS : -SKEW_MS))).toBeLessThan(SLACK_MS);
  });

  test.each(both)(
    '%s: a task, its review and its place in the index have the times of Redis',
    SLOW,
    async (which) => {
      const client = gateways[which];
      const id = await client.submit(`Submitted ${which}`, { require_review: true, review_timeout: 900 });
      const { created_at, expires_at } = await client.review(id);
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(900 * SECOND);
      await expectNow(created_at);
      await expectNow((await client.task(id)).created_at);
      await expectNow(Number(await stored.redis.zscore('tasks:open', id)));
      expect((await client.control(id, 'cancel')).status).toBe(202);
      await expectNow((await client.ended(id)).completed_at ?? '');
      for (const { timestamp } of await client.events(id)) await expectNow(timestamp);
    },
  );

  test.each(both)('%s: an extension is held against 30 days on the clock of Redis', SLOW, async (which) => {
    const client = gateways[which];
    const timeout = THIRTY_DAYS_SECONDS - 60;
    const id = await client.submit(`Extended ${which}`, { require_review: true, review_timeout: timeout });
    const before = await client.review(id);
    expect(Date.parse(before.expires_at) - Date.parse(before.created_at)).toBe(timeout * SECOND);
    // 10 minutes more would be 9 too many; a clock 10 minutes ahead would allow them, one behind not even the 55 s.
    const tooFar = await client.act(id, { action: 'extend', seconds: 600 });
    expect([tooFar.status, tooFar.json.error]).toEqual([400, 'deadline is more than 30 days away']);
    const extended = await client.act(id, { action: 'extend', seconds: 55 });
    expect(extended.status).toBe(200);
    expect(Date.parse(extended.json.expires_at) - Date.parse(before.expires_at)).toBe(55 * SECOND);
    expect((await client.review(id)).status).toBe('reviewing');
    expect((await client.control(id, 'cancel')).status).toBe(202);
  });

  test('a review is open for both until its deadline has passed, then closed for both', SLOW, async () => {
    const { ahead, behind } = gateways;
    const id = await ahead.submit('Times out', { require_review: true, review_timeout: 12 });
    const { expires_at } = await behind.review(id);
    expect((await ahead.review(id)).status).toBe('reviewing');
    const task = await behind.ended(id);
    expect(task.error).toBe('research plan review timed out');
    const timedOut = (await ahead.events(id)).find(({ type }) => type === 'REVIEW_TIMED_OUT');
    const late = Date.parse(timedOut?.timestamp ?? '') - Date.parse(expires_at);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(SLACK_MS);
    for (const client of [ahead, behind]) {
      expect((await client.approve(id)).json.error).toBe('Review is closed: timed_out');
    }
    process.stdout.write(`timed out ${late} ms after the deadline\n`);
  });

  test(
    'an approval in the last minute holds, which is over or far off on the clock of its gateway',
    SLOW,
    async () => {
      for (const which of both) {
        const client = gateways[which];
        const id = await client.submit(`Just in time ${which}`, { require_review: true, review_timeout: 60 });
        await client.review(id);
        expect((await client.approve(id)).json).toEqual({ status: 'approved', message: 'Research started' });
        expect((await client.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
      }
    },
  );

  test(
    'the sweep gives a start its patience, on the clock of Redis: neither sooner nor ten minutes later',
    SLOW,
    async () => {
      const presets = loadStrategies(configFile('research_strategies.yaml'));
      const recordAt = (ms: number) => {
        const limits = { defaultTimeoutSeconds: 900, maxTimeoutSeconds: THIRTY_DAYS_SECONDS, maxRounds: 10 };
        const read = readSubmission({ query: 'Never started' }, limits, presets);
        if (!read.ok) throw new Error(read.error);
        const owner = {
          user: '00000000-0000-0000-0000-000000000002',
          tenant: '00000000-0000-0000-0000-000000000001',
        };
        const workflowId = `task-${ulid()}` as WorkflowId;
        return newRecord({
          submission: read.submission,
          workflowId,
          owner,
          sessionId: 's',
          token: ulid(),
          now: new Date(ms),
        });
      };
      const began = await now();
      const fresh = recordAt(began);
      const old = recordAt(began - PATIENCE_MS - SECOND);
      await new TaskStore(stored.redis).create(fresh);
      await new TaskStore(stored.redis, { now: () => new Date(began - PATIENCE_MS - SECOND) }).create(old);

      // The old one shows that a sweep has walked over both.
      const { ahead, behind } = gateways;
      expect((await ahead.ended(old.task_id)).error).toBe('task could not be started');
      // Each gateway sweeps every second; the time of the end, on the clock of Redis, says how long it waited.
      await until(
        async () => (await behind.task(fresh.task_id)).status === 'TASK_STATUS_FAILED',
        PATIENCE_MS + SLACK_MS,
      );
      const { completed_at = '' } = await behind.task(fresh.task_id);
      const patience = Date.parse(completed_at) - began;
      expect(patience).toBeGreaterThanOrEqual(PATIENCE_MS);
      expect(patience).toBeLessThan(PATIENCE_MS + SLACK_MS);
      process.stdout.write(`a start that never came was given ${patience} ms\n`);
    },
  );

  test(
    'a decision that was not delivered is told again after 10 s, not at once by the gateway ahead',
    SLOW,
    async () => {
      const { ahead } = gateways;
      const id = await ahead.submit('Told again', { require_review: true });
      await ahead.review(id);
      await product.stack.apps.orchestrator.kill();
      expect((await ahead.approve(id)).status).toBe(200);
      const key = `review:{${id}}`;
      await until(async () => Number(await stored.redis.hget(key, 'sent')) >= 1);
      const first = Number(await stored.redis.hget(key, 'sent_ms'));
      await expectNow(first);
      await until(async () => Number(await stored.redis.hget(key, 'sent')) >= 2, 10 * SECOND + SLACK_MS);
      const second = Number(await stored.redis.hget(key, 'sent_ms'));
      expect(second - first).toBeGreaterThanOrEqual(10 * SECOND);
      expect(second - first).toBeLessThan(10 * SECOND + SLACK_MS);
      await product.stack.apps.orchestrator.restart();
      expect((await ahead.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
    },
  );

  test(
    'P04 after an extension people are reminded at 50 % and 80 % of the longer wait, once each',
    SLOW,
    async () => {
      const { ahead } = gateways;
      const id = await ahead.submit('Reminded later', { require_review: true, review_timeout: 12 });
      const { created_at } = await ahead.review(id);
      const extended = await ahead.act(id, { action: 'extend', seconds: 4 });
      const wait = Date.parse(extended.json.expires_at) - Date.parse(created_at);
      expect(wait).toBe(16 * SECOND);
      await ahead.ended(id);
      const reminders = (await ahead.events(id)).filter(({ type }) => type === 'REVIEW_REMINDER');
      expect(reminders.map(({ payload }) => payload?.['share'])).toEqual([0.5, 0.8]);
      for (const { timestamp, payload } of reminders) {
        expect(payload?.['expires_at']).toBe(extended.json.expires_at);
        const due = Date.parse(created_at) + wait * Number(payload?.['share']);
        // Well after the shares of the first deadline, which would have been 2 s and more than 3 s before.
        expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(due - SECOND);
      }
    },
  );

  test(
    'P04 the engine waits exactly as long as was asked for, and reminds at 50 % and 80 % of it',
    SLOW,
    async () => {
      const connection = await Connection.connect({ address: product.stack.temporal.address });
      const engine = new EngineClient({ connection });
      for (const seconds of [900, THIRTY_DAYS_SECONDS]) {
        const id = await gateways.behind.submit(`Waits ${seconds} s`, {
          require_review: true,
          review_timeout: seconds,
        });
        await gateways.behind.review(id);
        const timers = async () => {
          const { events } = await engine.workflow.getHandle(id).fetchHistory();
          return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
            timer ? [Number(timer.startToFireTimeout?.seconds)] : [],
          );
        };
        await until(async () => (await timers()).length === 3);
        expect((await timers()).sort((a, b) => a - b)).toEqual([seconds * 0.5, seconds * 0.8, seconds]);
        expect((await gateways.ahead.review(id)).status).toBe('reviewing');
        expect((await gateways.ahead.control(id, 'cancel')).status).toBe(202);
      }
      await connection.close();
      expect(THIRTY_DAYS_SECONDS * SECOND).toBe(30 * DAY);
    },
  );
});
