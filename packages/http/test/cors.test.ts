import { afterEach, describe, expect, test } from 'vitest';
import { authenticate, byCredential, cors } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

const nobody = authenticate(byCredential(async () => null));
const PREFLIGHT = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'if-match' };

describe('by default', () => {
  test('every origin may read, without credentials, and sees the exposed headers', async () => {
    site = await serve(cors());
    const { headers } = await site.ask('/', { headers: { Origin: 'https://page.example' } });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers['access-control-expose-headers']).toBe(
      'ETag, X-Workflow-ID, X-Session-ID, X-Request-ID, Retry-After, X-RateLimit-Limit-Minute, X-RateLimit-Remaining-Minute, X-RateLimit-Reset, X-Idempotency-Cached, Link',
    );
  });

  test('a preflight is answered before auth', async () => {
    site = await serve(cors(), nobody);
    const answer = await site.ask('/', {
      method: 'OPTIONS',
      headers: { Origin: 'https://page.example', ...PREFLIGHT },
    });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PATCH, DELETE');
    expect(answer.headers['access-control-allow-headers']).toBe(
      'Content-Type, Authorization, X-API-Key, X-User-Id, X-Tenant-Id, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Cache-Control, traceparent, tracestate',
    );
    expect(answer.headers.vary).toContain('Access-Control-Request-Headers');
  });

  test('an OPTIONS that is no preflight goes on to auth', async () => {
    site = await serve(cors(), nobody);
    expect((await site.ask('/', { method: 'OPTIONS' })).status).toBe(401);
  });

  test('a refusal can be read by the page too', async () => {
    site = await serve(cors(), nobody);
    const answer = await site.ask('/', { headers: { Origin: 'https://page.example' } });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, '*']);
  });
});

describe('with configured origins', () => {
  const origins = ['https://desk.example.org'];

  test('a configured one is named in the answer', async () => {
    site = await serve(cors({ origins }));
    const { headers } = await site.ask('/', { headers: { Origin: 'https://desk.example.org' } });
    expect(headers['access-control-allow-origin']).toBe('https://desk.example.org');
    expect(headers.vary).toBe('Origin');
  });

  test.each([
    'https://evil.example',
    'null',
    'http://desk.example.org',
    'https://desk.example.org.evil.example',
  ])('%s gets no permission, on a preflight either, and caches keep the answers apart', async (Origin) => {
    site = await serve(cors({ origins }));
    const plain = await site.ask('/', { headers: { Origin } });
    const preflight = await site.ask('/', { method: 'OPTIONS', headers: { Origin, ...PREFLIGHT } });
    for (const { headers } of [plain, preflight]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers.vary).toContain('Origin');
    }
  });

  test('a scheme of an app is an origin like others, and does not let sandboxed pages read', async () => {
    site = await serve(cors({ origins: ['tauri://localhost'] }));
    const ask = async (Origin: string) =>
      (await site.ask('/', { headers: { Origin } })).headers['access-control-allow-origin'];
    expect(await ask('tauri://localhost')).toBe('tauri://localhost');
    expect(await ask('null')).toBeUndefined();
  });
});
