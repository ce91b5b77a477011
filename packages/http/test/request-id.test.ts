import { afterEach, describe, expect, test } from 'vitest';
import { requestId, requestIdOf, sendJson, traceOf } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

async function idFor(sent?: string) {
  site = await serve(
    requestId(() => 'made'),
    (req, res) => sendJson(res, 200, { id: requestIdOf(req), trace: traceOf(req) ?? null }),
  );
  const answer = await site.ask('/', { headers: sent === undefined ? {} : { 'X-Request-ID': sent } });
  expect(answer.headers['x-request-id']).toBe(answer.json.id);
  return answer.json.id;
}

describe('X-Request-ID', () => {
  test.each(['a', 'Root=1-67891233-abcdef012345678912345678', 'x'.repeat(128)])(
    '%s is kept',
    async (sent) => {
      expect(await idFor(sent)).toBe(sent);
    },
  );

  test.each([
    undefined,
    '',
    'x'.repeat(129),
    'a b',
    'a"b',
    '{"a":1}',
    'a;b',
    '<script>',
    'é',
    'a,b',
    '%0d%0aSet-Cookie:x',
  ])('%s is replaced', async (sent) => {
    expect(await idFor(sent)).toBe('made');
  });

  test('a bare CR cannot smuggle a header into the answer', async () => {
    site = await serve(requestId(() => 'made'));
    const answer = await site.raw(
      'GET / HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: a\rSet-Cookie: b=1\r\nConnection: close\r\n\r\n',
    );
    expect(answer).not.toMatch(/^Set-Cookie/im);
  });

  test('sent twice it is replaced', async () => {
    site = await serve(requestId(() => 'made'));
    const answer = await site.ask('/', { headers: { 'X-Request-ID': ['a', 'b'] } });
    expect(answer.headers['x-request-id']).toBe('made');
  });

  test('is a fresh UUID by default', async () => {
    site = await serve(requestId());
    const [a, b] = [await site.ask('/'), await site.ask('/')].map((answer) => answer.headers['x-request-id']);
    expect(a).toMatch(/^[0-9a-f-]{36}$/);
    expect(a).not.toBe(b);
  });
});

describe('traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';

  async function traceFor(headers: Record<string, string>) {
    site = await serve((req, res) => sendJson(res, 200, { trace: traceOf(req) ?? null }));
    return (await site.ask('/', { headers })).json.trace;
  }

  test('is carried with its tracestate', async () => {
    const traceparent = `00-${trace}-${parent}-01`;
    expect(await traceFor({ traceparent, tracestate: 'a=1' })).toEqual({
      traceId: trace,
      traceparent,
      tracestate: 'a=1',
    });
  });

  test('of a later version may have more fields', async () => {
    expect((await traceFor({ traceparent: `01-${trace}-${parent}-01-more` })).traceId).toBe(trace);
  });

  test.each([
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}`,
    'nonsense',
  ])('%s is ignored', async (traceparent) => {
    expect(await traceFor({ traceparent })).toBeNull();
  });
});
