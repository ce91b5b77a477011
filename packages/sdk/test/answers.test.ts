import { describe, expect, test } from 'vitest';
import { BadRequestError, Plangate, PlangateError } from '../src/index.ts';
import { json, serve } from './scripted-gateway.ts';

const CALLS: [string, (plangate: Plangate) => Promise<unknown>][] = [
  ['tasks.submit', ({ tasks }) => tasks.submit({ query: 'q' })],
  ['review.get', ({ review }) => review.get('task-1')],
  ['review.approve', ({ review }) => review.approve('task-1', { version: 1 })],
  ['sessions.rename', ({ sessions }) => sessions.rename('s', 'Title')],
  ['tasks.wait', ({ tasks }) => tasks.wait('task-1', { by: 'polling' })],
  ['events.stream', ({ events }) => events.stream('task-1').next()],
];

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])(
    'with %i is told and not followed: no change turns into a read, no key goes elsewhere',
    async (status) => {
      const seen: (string | undefined)[] = [];
      const elsewhere = await serve((req, res) => {
        seen.push(`${req.method} ${req.url}`);
        json(res, 200, { status: 'reviewing', version: 1 });
      });
      const url = await serve((req, res) => {
        res.writeHead(status, { Location: `${elsewhere}${req.url}` }).end();
      });
      const plangate = new Plangate({ baseUrl: url, apiKey: 'pg_secret' });
      for (const [, call] of CALLS) {
        const error: Error = await call(plangate).then(
          () => expect.fail('it should have failed'),
          (reason) => reason,
        );
        expect(error).toBeInstanceOf(PlangateError);
        expect(error.message).toContain(`a redirect to ${elsewhere}/api/v1/`);
        expect(error.message).toContain('Set baseUrl');
      }
      expect(seen).toEqual([]);
    },
  );

  test('of which a page learns no more than that it is one is told too', async () => {
    const opaque = Object.create(Response.error(), {
      type: { value: 'opaqueredirect' },
      ok: { value: false },
      status: { value: 0 },
      headers: { value: new Headers() },
      text: { value: async () => '' },
    });
    const { tasks } = new Plangate({ fetch: async () => opaque });
    await expect(tasks.list()).rejects.toThrow('is a redirect, which is not followed');
  });
});

describe.each([
  ['nothing', 200, ''],
  ['204', 204, ''],
  ['null', 200, 'null'],
  ['a list', 200, '[]'],
  ['a text', 200, '"ok"'],
  ['half of an object', 200, '{"task_id":'],
])('an answer of %s', (_, status, text) => {
  test.each(CALLS.slice(0, -1))('is no answer to %s', async (_, call) => {
    const url = await serve((_req, res) => {
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
    });
    const error = call(new Plangate({ baseUrl: url }));
    await expect(error).rejects.toThrow('what answers at baseUrl is not Plangate');
    await expect(error).rejects.toBeInstanceOf(PlangateError);
  });
});

test('an error of something else, whose error and code are no texts, is not shown as one of Plangate', async () => {
  const url = await serve((_req, res) => json(res, 400, { error: { message: 'no' }, code: 5 }));
  const error = await new Plangate({ baseUrl: url }).tasks.list().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({ code: 'unknown', body: null, text: 'HTTP 400' });
});
