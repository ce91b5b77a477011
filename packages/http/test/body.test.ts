import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { type BodyOptions, type Middleware, readBody, readJsonObject, sendJson } from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

let site: TestServer;
afterEach(() => site.close());

const echo =
  (options: BodyOptions = {}): Middleware =>
  async (req, res) =>
    sendJson(res, 200, { got: await readJsonObject(req, options) });

async function post(body: string | Buffer | undefined, type?: string, options: BodyOptions = {}) {
  site = await serve(echo(options));
  return site.ask('/', {
    method: 'POST',
    ...(body === undefined ? {} : { body }),
    headers: type ? { 'Content-Type': type } : {},
  });
}

describe('content type', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    '%s is taken',
    async (type) => {
      expect((await post('{"a":1}', type)).json).toEqual({ got: { a: 1 } });
    },
  );

  test.each([
    'text/json',
    'text/plain',
    'application/json-seq',
    'application/jsonp',
    'application/problem+json',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '/',
    ';',
    undefined,
  ])('%s is 415', async (type) => {
    const answer = await post('{"a":1}', type);
    expect([answer.status, answer.json.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('a compressed body is 415: its size is not known before it is unpacked', async () => {
    site = await serve(echo());
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const answer = await site.ask('/', { method: 'POST', body: '{}', headers });
    expect([answer.status, answer.json.code]).toEqual([415, 'unsupported_encoding']);
  });
});

describe('what is not a JSON object is 400 Invalid request body', () => {
  const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  test.each<[string, string | Buffer | undefined]>([
    ['broken JSON', '{"a":'],
    ['two values', '{}{}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['a number', '1'],
    ['white space', '  '],
    ['nothing', ''],
    ['no body at all', undefined],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
    ['an encoded surrogate', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])],
    ['nesting without end', deep],
  ])('%s', async (_name, body) => {
    const answer = await post(body, 'application/json');
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'Invalid request body', code: 'invalid_body' },
    ]);
  });
});

describe('what an object may hold', () => {
  test('lone surrogates, NUL and emoji survive as they are', async () => {
    site = await serve(async (req, res) => {
      const { a } = await readJsonObject(req);
      sendJson(res, 200, { units: [...String(a)].map((c) => c.codePointAt(0)) });
    });
    const body = '{"a":"\\ud800\\u0000😀"}';
    const answer = await site.ask('/', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(answer.json.units).toEqual([0xd800, 0, 0x1f600]);
  });

  test.each(['{"__proto__":{"admin":1}}', '{"b":[{"\\u005f_proto__":{"admin":2}}]}'])(
    'a __proto__ member is refused, at any depth and in any spelling: %s',
    async (body) => {
      const answer = await post(body, 'application/json');
      expect([answer.status, answer.json.error]).toEqual([400, 'Invalid request body']);
    },
  );

  test('a member called constructor is a member like any other', async () => {
    const body = { constructor: { prototype: { admin: 3 } } };
    expect((await post(JSON.stringify(body), 'application/json')).json).toEqual({ got: body });
  });

  test('of a repeated member the last one counts', async () => {
    expect((await post('{"a":1,"a":2}', 'application/json')).json).toEqual({ got: { a: 2 } });
  });

  test('nesting as deep as the schemas allow is taken', async () => {
    const body = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`;
    expect((await post(body, 'application/json')).status).toBe(200);
  });
});

describe('an optional body', () => {
  test('may be absent', async () => {
    expect((await post(undefined, undefined, { optional: true })).json).toEqual({ got: {} });
  });

  test('may be empty under any type that a client names', async () => {
    expect((await post('', 'text/plain', { optional: true })).json).toEqual({ got: {} });
  });

  test('may be empty in chunks', async () => {
    site = await serve(echo({ optional: true }));
    const answer = await site.raw(
      'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\{"got":\{\}\}/s);
  });

  test('is checked like any other where it is there', async () => {
    for (const type of ['text/plain', undefined]) {
      expect((await post('{"reason":"x"}', type, { optional: true })).status).toBe(415);
      await site.close();
    }
    expect((await post('nonsense', 'application/json', { optional: true })).status).toBe(400);
  });
});

describe('size', () => {
  const limitBytes = 1_000;
  const body = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`;

  test('a body of exactly the limit is taken, one byte more is 413', async () => {
    expect((await post(body(limitBytes), 'application/json', { limitBytes })).status).toBe(200);
    await site.close();
    const answer = await post(body(limitBytes + 1), 'application/json', { limitBytes });
    expect([answer.status, answer.json]).toEqual([
      413,
      { error: 'Request body too large', code: 'body_too_large', limit: limitBytes },
    ]);
  });

  test('a large body is refused by its announced length, before its first byte', async () => {
    site = await serve(echo());
    const status = await new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(10 ** 9) };
      const req = request({ port: site.port, method: 'POST', headers });
      req.once('response', (res) => {
        resolve(res.statusCode);
        req.destroy();
      });
      req.on('error', reject);
      req.flushHeaders();
    });
    expect(status).toBe(413);
  });

  test('a body without a length is refused as soon as it passes the limit, and an endless sender is cut off', async () => {
    site = await serve(echo({ limitBytes }));
    const seen = await new Promise<{ status: number | undefined; cut: boolean }>((resolve) => {
      let status: number | undefined;
      const req = request({
        port: site.port,
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
      });
      const timer = setInterval(() => req.write('x'.repeat(700)), 20);
      req.once('response', (res) => {
        status = res.statusCode;
        res.resume();
      });
      req.on('error', () => {});
      req.once('close', () => {
        clearInterval(timer);
        resolve({ status, cut: true });
      });
    });
    expect(seen).toEqual({ status: 413, cut: true });
  });

  test('after a 413 the rest of the body is thrown away and the connection can be used again', async () => {
    site = await serve(echo({ limitBytes }));
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const size = 4_000_000;
    const large = `${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`;
    const answers = await site.raw(`${large}${head}Content-Length: 2\r\nConnection: close\r\n\r\n{}`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });
});

test('the raw bytes can be read before and after the object, and are the ones sent', async () => {
  site = await serve(async (req, res) => {
    const before = await readBody(req);
    const value = await readJsonObject(req);
    const after = await readBody(req);
    sendJson(res, 200, { bytes: before.toString(), same: before === after, value });
  });
  const body = '{ "a" : 1 }';
  const answer = await site.ask('/', {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json' },
  });
  expect(answer.json).toEqual({ bytes: body, same: true, value: { a: 1 } });
});
