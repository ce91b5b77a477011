import type { NewEvent, WorkflowId } from '@plangate/contracts';
import { endTask } from '@plangate/tasks/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openStream, type RawStream } from './raw-stream.ts';
import { type Rig, startRig, until } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const opened: RawStream[] = [];
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

interface Open {
  query?: string;
  headers?: Record<string, string>;
  version?: string;
  method?: string;
  key?: string;
  read?: boolean;
  to?: Rig;
}
function open(id: string, { query = '', to = rig, ...options }: Open = {}): RawStream {
  const path = `/api/v1/stream/sse?workflow_id=${id}${query}`;
  const stream = openStream(to.port, path, { key: to.keys.alice, ...options });
  opened.push(stream);
  return stream;
}

const note = (message: string, type: NewEvent['type'] = 'PROGRESS'): NewEvent => ({
  type,
  agent_id: 'agent',
  message,
});
const say = (id: WorkflowId, ...messages: string[]) =>
  rig.events.append(
    id,
    messages.map((text) => note(text)),
  );
const end = (id: WorkflowId) =>
  endTask(
    id,
    { kind: 'completed', result: 'r' },
    { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 },
  );
const messages = (stream: RawStream) =>
  stream.frames().map(({ data = '' }) => (data.startsWith('{') ? JSON.parse(data).message : data));

/** A finished task with three events of its own before the two of its end. */
async function finished(): Promise<{ id: WorkflowId; ids: string[]; doneId: string }> {
  const { task_id: id } = await rig.task();
  await say(id, 'one', 'two', 'three');
  await end(id);
  const ids = (await rig.events.read(id, { limit: 10 })).map(({ stream_id }) => stream_id);
  return { id, ids, doneId: ids.at(-1)! };
}

describe('a stream', () => {
  test('has the headers of an event stream, is never compressed, and begins at once', async () => {
    const { task_id: id } = await rig.task();
    const stream = open(id, { headers: { 'Accept-Encoding': 'gzip, br' } });
    await stream.has(`\r\n\r\n: connected to workflow ${id}\nretry: 2000\n\n`);
    const head = stream.head().toLowerCase();
    expect(stream.status()).toBe(200);
    for (const line of [
      'content-type: text/event-stream',
      'cache-control: no-cache, no-transform',
      'x-accel-buffering: no',
      'connection: close',
      'transfer-encoding: chunked',
      'access-control-allow-origin: *',
    ]) {
      expect(head).toContain(line);
    }
    for (const name of ['content-encoding', 'content-length']) expect(head).not.toContain(name);
  });

  test('P113 the first event arrives without waiting for others', async () => {
    const { task_id: id } = await rig.task();
    const stream = open(id);
    await stream.has('retry: 2000');
    await say(id, 'alone');
    await stream.has('alone');
    expect(messages(stream)).toEqual(['alone']);
  });

  test('replays everything, goes on live, ends with done, and closes', async () => {
    const { task_id: id } = await rig.task();
    await say(id, 'one', 'two');
    const stream = open(id);
    await stream.has('two');
    await say(id, 'three');
    await stream.has('three');
    await end(id);
    expect(await stream.ended).toBe('end');
    expect(messages(stream)).toEqual(['one', 'two', 'three', 'All done', '[DONE]']);
    const events = stream.frames();
    expect(events.at(-1)).toMatchObject({
      event: 'done',
      data: '[DONE]',
      id: expect.stringMatching(/^\d+-5$/),
    });
    expect(JSON.parse(events[0]!.data!)).toMatchObject({ workflow_id: id, seq: 1, stream_id: events[0]!.id });
  });

  test('only done completes the body: a stream that is broken off is no whole answer for any client', async () => {
    const { id } = await finished();
    const whole = open(id);
    await whole.ended;
    expect([whole.frames().at(-1)?.event, whole.complete()]).toEqual(['done', true]);

    const { task_id: running } = await rig.task();
    const stopping = await startRig({ redis: rig.redisServer });
    const broken = open(running, { to: stopping });
    await broken.has('retry: 2000');
    await stopping.stop();
    expect([await broken.ended, broken.complete()]).toEqual(['reset', false]);
  });

  test('P115 two subscribers both get every event', async () => {
    const { task_id: id } = await rig.task();
    const streams = [open(id), open(id)];
    for (const stream of streams) await stream.has('retry: 2000');
    for (const text of ['a', 'b', 'c']) await say(id, text);
    await end(id);
    for (const stream of streams) {
      expect(await stream.ended).toBe('end');
      expect(messages(stream)).toEqual(['a', 'b', 'c', 'All done', '[DONE]']);
    }
  });

  test('P50 a stream dropped and resumed again and again shows every event once', async () => {
    const { task_id: id } = await rig.task();
    const all: string[] = [];
    let last: string | undefined;
    for (let n = 0; n < 10; n += 1) {
      const stream = open(id, last === undefined ? {} : { headers: { 'Last-Event-ID': last } });
      await say(id, `m${n}`);
      await stream.has(`m${n}`);
      await until(() => stream.frames().length > 0);
      all.push(...messages(stream));
      last = stream.frames().at(-1)?.id;
      stream.socket.resetAndDestroy();
    }
    expect(all).toEqual(Array.from({ length: 10 }, (_, n) => `m${n}`));
  });

  test('keeps only the types asked for, in both spellings, and always done', async () => {
    const { task_id: id } = await rig.task();
    await rig.events.append(id, [note('p'), note('paused', 'WORKFLOW_PAUSED'), note('d', 'DELEGATION')]);
    await end(id);
    const stream = open(id, { query: '&types=workflow.paused,DELEGATION' });
    await stream.ended;
    expect(stream.frames().map(({ event }) => event)).toEqual(['workflow.paused', 'DELEGATION', 'done']);
  });

  test('a quiet stream is pinged', async () => {
    const quick = await startRig({ redis: rig.redisServer, settings: { events: { ping_seconds: 0.05 } } });
    try {
      const { task_id: id } = await rig.task();
      const stream = open(id, { to: quick });
      await stream.has(': ping\n\n: ping\n\n');
      expect(stream.frames()).toEqual([]);
    } finally {
      await quick.stop();
    }
  });

  test('HTTP/1.0: the body ends with the connection', async () => {
    const { id } = await finished();
    const stream = open(id, { version: '1.0' });
    expect(await stream.ended).toBe('end');
    expect(messages(stream).at(-1)).toBe('[DONE]');
    expect(stream.head().toLowerCase()).not.toContain('transfer-encoding');
  });

  test('HEAD answers the headers and nothing else', async () => {
    const { id } = await finished();
    const stream = open(id, { method: 'HEAD' });
    expect(await stream.ended).toBe('end');
    expect(stream.head().toLowerCase()).toContain('content-type: text/event-stream');
    expect(stream.text().endsWith('\r\n\r\n')).toBe(true);
  });
});

describe('resuming', () => {
  test.each([
    ['the header by id', (ids: string[]) => ({ headers: { 'Last-Event-ID': ids[0]! } })],
    ['the query by id', (ids: string[]) => ({ query: `&last_event_id=${ids[0]}` })],
    ['the query by seq', () => ({ query: '&last_event_id=1' })],
    [
      'the header, which wins',
      (ids: string[]) => ({ headers: { 'Last-Event-ID': ids[0]! }, query: '&last_event_id=3' }),
    ],
  ])('is strictly after %s', async (_, build) => {
    const { id, ids } = await finished();
    const stream = open(id, build(ids));
    await stream.ended;
    expect(messages(stream)).toEqual(['two', 'three', 'All done', '[DONE]']);
  });

  test('a malformed header is a full replay, a malformed query 400', async () => {
    const { id } = await finished();
    const stream = open(id, { headers: { 'Last-Event-ID': 'x-1' } });
    await stream.ended;
    expect(messages(stream)).toHaveLength(5);
    for (const value of ['x', '1-x', '-1', '1-2-3', '%20']) {
      const answer = await rig.ask(`/api/v1/stream/sse?workflow_id=${id}&last_event_id=${value}`);
      expect([value, answer.status, answer.json]).toEqual([
        value,
        400,
        { error: 'Invalid last_event_id', code: 'invalid_last_event_id' },
      ]);
    }
  });

  test('a missing or malformed workflow_id is 400', async () => {
    for (const query of ['', '?workflow_id=', '?workflow_id=a%20b', '?workflow=x']) {
      const answer = await rig.ask(`/api/v1/stream/sse${query}`);
      expect([answer.status, answer.json.error]).toEqual([400, 'Invalid or missing workflow_id']);
    }
  });

  test('P41 after done: the header alone is 204, the query or both alike get done again and are closed', async () => {
    const { id, ids, doneId } = await finished();
    const header = { 'Last-Event-ID': doneId };
    const path = `/api/v1/stream/sse?workflow_id=${id}`;
    expect((await rig.ask(path, { headers: header })).status).toBe(204);
    expect((await rig.ask(`${path}&last_event_id=${ids[0]}`, { headers: header })).status).toBe(204);
    for (const options of [
      { query: `&last_event_id=${doneId}` },
      { query: `&last_event_id=${doneId}`, headers: header },
    ]) {
      const stream = open(id, options);
      expect(await stream.ended).toBe('end');
      expect(messages(stream)).toEqual(['[DONE]']);
    }
  });

  test('P41 a task whose events are no longer kept gets done at once, its EventSource 204', async () => {
    const { id, ids } = await finished();
    await rig.events.expire(id, 0);
    const stream = open(id);
    expect(await stream.ended).toBe('end');
    expect(messages(stream)).toEqual(['[DONE]']);
    const again = await rig.ask(`/api/v1/stream/sse?workflow_id=${id}`, {
      headers: { 'Last-Event-ID': ids[1]! },
    });
    expect(again.status).toBe(204);
    const [done] = stream.frames();
    const left = await rig.ask(`/api/v1/stream/sse?workflow_id=${id}`, {
      headers: { 'Last-Event-ID': done?.id ?? '' },
    });
    expect(left.status).toBe(204);
  });

  test('P56 what is no longer kept is told as a gap without an id, then comes the rest', async () => {
    const { id, ids } = await finished();
    await rig.redis.xtrim(`events:{${id}}`, 'MAXLEN', 2);
    const bySeq = open(id, { query: '&last_event_id=1' });
    await bySeq.ended;
    expect(bySeq.frames()[0]).toEqual({ event: 'gap', data: '{"requested":1,"earliest":4,"latest":5}' });
    expect(messages(bySeq).slice(1)).toEqual(['All done', '[DONE]']);
    const byId = open(id, { headers: { 'Last-Event-ID': ids[0]! } });
    await byId.ended;
    expect(JSON.parse(byId.frames()[0]!.data!)).toEqual({
      requested: ids[0],
      earliest: ids[3],
      latest: ids[4],
    });
  });
});

describe('limits', () => {
  test('a user has so many streams and no more; another user is not affected; a closed one counts no longer', async () => {
    const limited = await startRig({ redis: rig.redisServer, settings: { events: { streams_per_user: 2 } } });
    try {
      const { task_id: id } = await rig.task();
      const streams = [open(id, { to: limited }), open(id, { to: limited })];
      for (const stream of streams) await stream.has('retry: 2000');
      const path = `/api/v1/stream/sse?workflow_id=${id}`;
      const third = await limited.ask(path);
      expect([third.status, third.json.code]).toEqual([429, 'too_many_streams']);
      expect(third.headers['retry-after']).toMatch(/^\d+$/);
      expect((await limited.ask(path, { key: limited.keys.bob })).status).toBe(404);
      streams[0]!.close();
      await until(async () => {
        const again = open(id, { to: limited });
        await until(() => again.status() > 0);
        return again.status() === 200;
      });
    } finally {
      await limited.stop();
    }
  });

  test('with auth off there is no limit', async () => {
    const free = await startRig({
      redis: rig.redisServer,
      settings: { gateway: { skip_auth: true }, events: { streams_per_user: 1 } },
    });
    try {
      const { task_id: id } = await free.task(undefined, {
        user: '00000000-0000-0000-0000-000000000002',
        tenant: '00000000-0000-0000-0000-000000000001',
      });
      for (const stream of [1, 2, 3].map(() => open(id, { to: free }))) await stream.has('retry: 2000');
    } finally {
      await free.stop();
    }
  });

  test('connections that are gone before their stream has begun take no place', async () => {
    const limited = await startRig({ redis: rig.redisServer, settings: { events: { streams_per_user: 1 } } });
    try {
      const { task_id: id } = await rig.task();
      const path = `/api/v1/stream/sse?workflow_id=${id}`;
      for (let n = 0; n < 30; n += 1) {
        const hasty = open(id, { to: limited });
        await until(() => hasty.socket.bytesWritten > 0);
        if (n % 2 === 0) hasty.socket.resetAndDestroy();
        else hasty.close();
      }
      await until(async () => (await limited.ask(path, { method: 'HEAD' })).status === 200);
      await until(async () => {
        const one = open(id, { to: limited });
        await until(() => one.status() > 0);
        return one.status() === 200;
      });
    } finally {
      await limited.stop();
    }
  });

  test('a pipelined request gets its stream after the answers in front of it', async () => {
    const { id } = await finished();
    const first = openStream(rig.port, `/api/v1/tasks/${id}`, { key: rig.keys.alice });
    opened.push(first);
    const stream = `GET /api/v1/stream/sse?workflow_id=${id} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${rig.keys.alice}\r\n\r\n`;
    first.socket.write(stream);
    expect(await first.ended).toBe('end');
    expect(first.text().match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(first.text().endsWith('data: [DONE]\n\n\r\n0\r\n\r\n')).toBe(true);
  });

  test('a reader that takes nothing is broken off by a reset, and gets everything when it resumes', async () => {
    const quick = await startRig({ redis: rig.redisServer, settings: { events: { ping_seconds: 0.2 } } });
    try {
      const { task_id: id } = await rig.task();
      const stuck = open(id, { to: quick, read: false });
      await until(async () => (await rig.redis.pubsub('CHANNELS', `*${id}*`)).length > 0);
      const text = 'x'.repeat(60_000);
      for (let n = 0; n < 400; n += 1) await say(id, `${n} ${text}`);
      await until(
        () => quick.lines.some((line) => line['workflow_id'] === id && line['aborted'] === true),
        20_000,
      );
      stuck.socket.resume();
      expect(await stuck.ended).toBe('reset');

      // At a gateway that has the patience of the real one: this test reads 24 MB by looking at them again and again.
      const resumed = open(id);
      await resumed.has(`399 ${text.slice(0, 10)}`);
      await until(() => resumed.text().endsWith('\n\n'));
      expect(resumed.frames().map(({ data }) => JSON.parse(data!).seq)).toEqual(
        Array.from({ length: 400 }, (_, n) => n + 1),
      );
    } finally {
      await quick.stop();
    }
  }, 60_000);

  test('P112 text of people and models stays inside its JSON', async () => {
    const { task_id: id } = await rig.task();
    const texts = [
      'x\r\n\r\nevent: done\r\ndata: {}\r\n\r\n',
      '<img src=x onerror=alert(1)>',
      'a\u2028b\u0085c',
      '\n\n',
    ];
    await say(id, ...texts);
    await end(id);
    const stream = open(id);
    await stream.ended;
    expect(messages(stream).slice(0, 4)).toEqual(texts);
    expect(stream.frames()).toHaveLength(6);
  });
});

describe('stopping', () => {
  test('every open stream is told when to come back and is broken off by a reset; the next gateway goes on', async () => {
    const other = await startRig({ redis: rig.redisServer });
    const { task_id: id } = await rig.task();
    await say(id, 'before');
    const streams = [open(id, { to: other }), open(id, { to: other, version: '1.0' })];
    for (const stream of streams) await stream.has('before');
    await other.stop();
    for (const stream of streams) {
      expect(await stream.ended).toBe('reset');
      expect(stream.text().endsWith('retry: 2000\n\n')).toBe(true);
    }
    await say(id, 'after');
    const resumed = open(id, { headers: { 'Last-Event-ID': streams[0]!.frames().at(-1)!.id! } });
    await resumed.has('after');
    expect(messages(resumed)).toEqual(['after']);
  });
});
