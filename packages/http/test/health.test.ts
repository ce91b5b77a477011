import { HealthBody } from '@plangate/contracts';
import { afterEach, describe, expect, test } from 'vitest';
import { health, readiness } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

const options = { version: '0.1.0', now: () => new Date('2026-01-02T03:04:05.678Z') };
const time = '2026-01-02T03:04:05.678Z';

test('health says that the process runs', async () => {
  site = await serve(health('gateway', options));
  const answer = await site.ask('/health');
  expect([answer.status, answer.json]).toEqual([
    200,
    { status: 'healthy', version: '0.1.0', time, checks: { gateway: 'ok' } },
  ]);
  expect(HealthBody.parse(answer.json)).toEqual(answer.json);
});

describe('readiness', () => {
  test('is 200 when every part answers', async () => {
    site = await serve(readiness({ redis: async () => 'PONG', temporal: async () => {} }, options));
    const answer = await site.ask('/readiness');
    expect([answer.status, answer.json]).toEqual([
      200,
      { status: 'ready', version: '0.1.0', time, checks: { redis: 'ok', temporal: 'ok' } },
    ]);
  });

  test('is 503 and names the part that fails, hangs or throws, without its reason', async () => {
    const checks = {
      redis: async () => 'PONG',
      temporal: () => Promise.reject(new Error('secret')),
      'llm-service': () => new Promise(() => {}),
      broken: () => {
        throw new Error('secret');
      },
    };
    site = await serve(readiness(checks, { ...options, limitMs: 50 }));
    const answer = await site.ask('/readiness');
    expect([answer.status, answer.json]).toEqual([
      503,
      {
        status: 'not ready',
        version: '0.1.0',
        time,
        checks: { redis: 'ok', temporal: 'unavailable', 'llm-service': 'timed out', broken: 'unavailable' },
      },
    ]);
  });

  test('waits 1.5 s at most, for all parts together', async () => {
    const hang = () => new Promise(() => {});
    site = await serve(readiness({ a: hang, b: hang, c: hang }, options));
    const started = performance.now();
    expect((await site.ask('/readiness')).status).toBe(503);
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
