import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { randomOf } from '../prove/random.ts';
import { taskPath } from './support/client.ts';
import { type Product, startProduct } from './support/product.ts';
import { type Reader, type ReadOptions, readStream } from './support/sse.ts';
import { until } from './support/until.ts';

/** Often, so that a reader that takes nothing is found out soon. */
const PING_SECONDS = 1;

let product: Product;
let finished: { id: string; ids: string[] };
beforeAll(async () => {
  product = await startProduct({ settings: `events:\n  ping_seconds: ${PING_SECONDS}\n` });
  const id = await product.submit('A finished task', { force_research: true });
  await product.ended(id);
  await product.published(id, 'STREAM_END');
  finished = { id, ids: (await product.events(id)).map(({ stream_id }) => stream_id) };
});
afterAll(() => product?.stop());

const readers: Reader[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});
function open(id: string, options?: ReadOptions): Reader {
  const reader = readStream(product.stack.gatewayUrl, id, options);
  readers.push(reader);
  return reader;
}
async function readToEnd(id: string, options?: ReadOptions): Promise<Reader> {
  const reader = open(id, options);
  expect(await reader.ended).toBe('end');
  return reader;
}
const idsOf = (reader: Reader) => reader.frames().map(({ id }) => id);
async function reviewed(query: string): Promise<string> {
  const id = await product.submit(query, { require_review: true });
  await product.review(id);
  return id;
}

describe('replay', () => {
  test('without a resume point: every event, in order and without gaps, then done, then the end', async () => {
    const reader = await readToEnd(finished.id);
    expect(reader.status()).toBe(200);
    expect(idsOf(reader)).toEqual(finished.ids);
    expect(reader.data().map(({ seq }) => seq)).toEqual(finished.ids.slice(0, -1).map((_, at) => at + 1));
    expect(reader.frames().at(-1)).toMatchObject({ event: 'done', data: '[DONE]', id: finished.ids.at(-1) });
    expect(reader.text().startsWith(`: connected to workflow ${finished.id}\nretry: 2000\n\n`)).toBe(true);
  });

  test('by id and by seq, in the header and in the query: strictly after it', async () => {
    const { id, ids } = finished;
    for (const cursor of [ids[4] ?? '', '5']) {
      const byHeader = await readToEnd(id, { headers: { 'Last-Event-ID': cursor } });
      expect(idsOf(byHeader)).toEqual(ids.slice(5));
      const byQuery = await readToEnd(id, { query: `&last_event_id=${cursor}` });
      expect(idsOf(byQuery)).toEqual(ids.slice(5));
    }
    const both = await readToEnd(id, { headers: { 'Last-Event-ID': '7' }, query: '&last_event_id=2' });
    expect(idsOf(both)).toEqual(ids.slice(7));
  });

  test('a malformed header means a full replay, a malformed query 400', async () => {
    expect(idsOf(await readToEnd(finished.id, { headers: { 'Last-Event-ID': 'x' } }))).toEqual(finished.ids);
    const path = `/api/v1/stream/sse?workflow_id=${finished.id}&last_event_id=x`;
    const { status, json } = await product.ask(path);
    expect([status, json.error]).toEqual([400, 'Invalid last_event_id']);
  });

  test('P41 from the last event before done: done alone', async () => {
    const reader = await readToEnd(finished.id, { headers: { 'Last-Event-ID': finished.ids.at(-2) ?? '' } });
    expect(reader.names()).toEqual(['done']);
  });

  test('P41 from done: 204 for an EventSource, a stream that ends at once for the SDK', async () => {
    const doneId = finished.ids.at(-1) ?? '';
    const headers = { 'Last-Event-ID': doneId };
    expect((await readToEnd(finished.id, { headers })).status()).toBe(204);
    expect((await readToEnd(finished.id, { headers, query: '&last_event_id=3' })).status()).toBe(204);
    const alike = await readToEnd(finished.id, { headers, query: `&last_event_id=${doneId}` });
    expect(alike.status()).toBe(200);
    expect(alike.data()).toEqual([]);
    const byQuery = await readToEnd(finished.id, { query: `&last_event_id=${doneId}` });
    expect(byQuery.status()).toBe(200);
  });

  test('missing id: 400, unknown id: 404, before any byte of a stream', async () => {
    for (const [query, status, text] of [
      ['', 400, 'Invalid or missing workflow_id'],
      ['?workflow_id=a%20b', 400, 'Invalid or missing workflow_id'],
      ['?workflow_id=task-unknown', 404, 'Task not found'],
    ] as const) {
      const answer = await product.ask(`/api/v1/stream/sse${query}`);
      expect([answer.status, answer.json.error]).toEqual([status, text]);
    }
  });

  test('the address that the task redirects to is the stream', async () => {
    const redirect = await product.ask(taskPath(finished.id, '/stream'));
    const followed = await product.ask(redirect.headers.get('location') ?? '');
    expect(followed.headers.get('content-type')).toBe('text/event-stream');
    expect(followed.text).toContain('event: done');
  });
});

test('P113 a client that takes gzip gets the stream uncompressed and at once', async () => {
  const id = await reviewed('Uncompressed');
  const reader = open(id, { headers: { 'Accept-Encoding': 'gzip, deflate, br' } });
  await reader.has('RESEARCH_PLAN_READY');
  expect(reader.headers()).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  expect(reader.headers()['content-encoding']).toBeUndefined();
});

test('types lets through what it names, in both spellings, and done', async () => {
  const id = await reviewed('Filtered');
  const filtered = open(id, { query: '&types=RESEARCH_PLAN_READY,WORKFLOW_CANCELLED,workflow.cancelling' });
  await product.feedback(id, 'More');
  await product.control(id, 'cancel');
  expect(await filtered.ended).toBe('end');
  expect(filtered.names()).toEqual([
    'RESEARCH_PLAN_READY',
    'workflow.cancelling',
    'workflow.cancelled',
    'done',
  ]);
});

test('P115 two readers of one workflow both get every event once, as it happens', async () => {
  const id = await product.submit('Two readers', { require_review: true });
  const both = [open(id), open(id)];
  await Promise.all(both.map((reader) => reader.has('RESEARCH_PLAN_READY')));
  await product.feedback(id, 'More');
  await Promise.all(both.map((reader) => reader.has('RESEARCH_PLAN_UPDATED')));
  await product.approve(id);
  for (const reader of both) expect(await reader.ended).toBe('end');
  const ids = (await product.events(id)).map(({ stream_id }) => stream_id);
  for (const reader of both) expect(idsOf(reader)).toEqual(ids);
});

test('P45 P50 a reader that drops 20 times during a run loses nothing and sees nothing twice', async () => {
  const random = randomOf(7);
  const id = await product.submit('Dropped again and again', { require_review: true });
  const seen: string[] = [];
  let connections = 0;
  const follow = async () => {
    for (;;) {
      connections += 1;
      const drop = connections <= 20;
      const most = drop ? random.int(0, 2) : Number.POSITIVE_INFINITY;
      const last = seen.at(-1);
      const inHeader = random.chance(0.5);
      const resume: ReadOptions =
        last === undefined
          ? {}
          : inHeader
            ? { headers: { 'Last-Event-ID': last } }
            : { query: `&last_event_id=${last}` };
      let taken = 0;
      const reader = open(id, {
        ...resume,
        onFrame(frame) {
          if (taken >= most) return;
          taken += 1;
          seen.push(frame.id ?? '');
          if (taken === most) reader.close();
        },
      });
      if (most === 0) {
        await until(() => reader.status() === 200);
        reader.close();
      }
      if ((await reader.ended) === 'end') return;
    }
  };
  const followed = follow();
  await product.review(id);
  for (let round = 1; round <= 9; round += 1) await product.feedback(id, `Wish ${round}`);
  await product.approve(id);
  await followed;
  expect(connections).toBe(21);
  const ids = (await product.events(id)).map(({ stream_id }) => stream_id);
  expect(seen).toEqual(ids);
  expect((await product.ended(id)).status).toBe('TASK_STATUS_COMPLETED');
});

test('a client that resumes from too early sees the overlap under the same ids', async () => {
  const [first, second] = [
    await readToEnd(finished.id),
    await readToEnd(finished.id, { query: '&last_event_id=2' }),
  ];
  const union = new Map([...first.frames(), ...second.frames()].map((frame) => [frame.id, frame.data]));
  expect([...union.keys()]).toEqual(finished.ids);
  expect(second.frames()).toEqual(first.frames().slice(2));
});

test('P32 a reader that takes nothing holds nobody up, is broken off, and resumes by id', async () => {
  const id = await reviewed('A slow reader');
  const slow = open(id, { read: false });
  const quick = open(id);
  await until(() => slow.status() === 200);
  // More than what the sockets of both sides can hold, in events of almost 64 KiB.
  const edits = 150;
  for (let version = 1; version <= edits; version += 1) {
    const plan = `${version} ${'x'.repeat(60_000)}`;
    expect((await product.act(id, { action: 'edit', plan })).status).toBe(200);
  }
  const edited = (reader: Reader) => reader.names().filter((name) => name === 'RESEARCH_PLAN_EDITED').length;
  await until(() => edited(quick) === edits);

  // One clock pings all streams, and breaks off those where nothing moved since its last tick.
  const pings = () => quick.text().split(': ping').length;
  const now = pings();
  await until(() => pings() >= now + 3);
  slow.resume();
  expect(await slow.ended).toBe('broken');
  const last = slow.frames().at(-1)?.id ?? '';
  expect(edited(slow)).toBeLessThan(edits);

  const resumed = open(id, { headers: { 'Last-Event-ID': last } });
  await until(() => edited(slow) + edited(resumed) === edits);
  expect([...idsOf(slow), ...idsOf(resumed)]).toEqual(idsOf(quick));
  await product.control(id, 'cancel');
});
