import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpServer } from '../src/index.ts';
import { listen, type TestServer } from './serve.ts';

let site: TestServer;
beforeAll(async () => {
  site = await listen(createHttpServer((_req, res) => void res.end('handled')));
});
afterAll(() => site.close());

/** Status line and JSON body of a raw answer, which must carry a request id. */
async function answerTo(bytes: string): Promise<{ status: number; body: unknown }> {
  const [head = '', body = ''] = (await site.raw(bytes)).split('\r\n\r\n');
  expect(head).toMatch(/^X-Request-ID: [0-9a-f-]{36}$/im);
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

describe('what Node would answer with an empty body has the one error shape (contract §0)', () => {
  test.each([
    ['no HTTP at all', 'GARBAGE\r\n\r\n'],
    ['a method that does not exist', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
  ])('%s: 400', async (_name, bytes) => {
    expect(await answerTo(bytes)).toEqual({
      status: 400,
      body: { error: 'Bad request', code: 'bad_request' },
    });
  });

  test('too large a head: 431', async () => {
    const answer = await answerTo(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatchObject({ status: 431, body: { code: 'headers_too_large' } });
  });

  test('an expectation that nobody can meet: 417', async () => {
    const answer = await answerTo('GET / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nConnection: close\r\n\r\n');
    expect(answer).toMatchObject({ status: 417, body: { code: 'expectation_failed' } });
  });

  test('garbage behind a request that is being answered breaks the connection off, and answers nothing in its place', async () => {
    const slow = await listen(
      createHttpServer((_req, res) => {
        res.write('begun');
      }),
    );
    const answer = await slow.raw('GET / HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n').catch(String);
    expect(answer).not.toContain('Bad request');
    await slow.close();
  });

  test('an idle connection is kept for longer than clients and proxies keep theirs', async () => {
    const agent = new Agent({ keepAlive: true });
    const [answer] = await once(get({ port: site.port, agent }), 'response');
    answer.resume();
    expect(answer.headers['keep-alive']).toBe('timeout=75');
    agent.destroy();
  });

  test('HTTP/1.0 needs no Host', async () => {
    expect(await site.raw('GET / HTTP/1.0\r\n\r\n')).toContain('handled');
  });
});
