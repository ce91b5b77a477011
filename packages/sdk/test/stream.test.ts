import { startApp } from '@plangate/devstack';
import { connectRedis } from '@plangate/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Product, startProduct } from '../../../test/support/product.ts';
import { stays, until } from '../../../test/support/until.ts';
import { NotFoundError, Plangate, RateLimitError, type StreamEvent } from '../src/index.ts';
import { startFaultProxy } from './fault-proxy.ts';
import {
  DONE,
  frame,
  type Opening,
  type ScriptedStream,
  send,
  sendAll,
  startScriptedStream,
} from './scripted-stream.ts';

const seqs = (events: StreamEvent[]) => events.map(({ data }) => ('seq' in data ? data.seq : null));

describe('against the product', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product.stop());

  async function reviewed(plangate: Plangate, query: string): Promise<string> {
    const { task_id } = await plangate.tasks.submit({ query, context: { require_review: true } });
    await plangate.review.waitUntilReady(task_id);
    return task_id;
  }

  test('P50 a connection that drops again and again loses and doubles nothing', async () => {
    const proxy = await startFaultProxy(product.stack.gatewayUrl);
    const plangate = new Plangate({ baseUrl: proxy.url });
    try {
      const isStream = ({ url }: { url: string }) => url.startsWith('/api/v1/stream/');
      proxy.fail(
        isStream,
        { do: 'cut', afterBytes: 100 },
        { do: 'refuse' },
        { do: 'cut', afterBytes: 400 },
        { do: 'answer', status: 503, headers: { 'Retry-After': '1' } },
        { do: 'cut', afterBytes: 1_500 },
      );
      const id = await reviewed(plangate, 'What causes tides? SDK drops');
      const events: StreamEvent[] = [];
      for await (const event of plangate.events.stream(id)) {
        events.push(event);
        if (event.event === 'RESEARCH_PLAN_READY') await plangate.review.approve(id, { version: 1 });
      }
      const { events: stored } = await plangate.tasks.timeline(id);
      expect(seqs(events)).toEqual(stored.slice(0, -1).map(({ seq }) => seq));
      const after = proxy.seen.filter(isStream).map(({ headers }) => headers['last-event-id']);
      expect(after.length).toBeGreaterThanOrEqual(6);
      expect(after[0]).toBeUndefined();
      expect(after.at(-1)).toMatch(/^\d+-\d+$/);
    } finally {
      await proxy.stop();
    }
  }, 90_000);

  test('types, a place to begin, the end that was seen, and what is not there', async () => {
    const plangate = new Plangate({ baseUrl: product.stack.gatewayUrl });
    const id = await reviewed(plangate, 'What causes tides? SDK types');
    await plangate.tasks.pause(id);
    await plangate.tasks.cancel(id);
    await plangate.tasks.wait(id);
    const names: string[] = [];
    for await (const { event } of plangate.events.stream(id, {
      types: ['workflow.paused', 'WORKFLOW_CANCELLED'],
    })) {
      names.push(event);
    }
    expect(names).toEqual(['workflow.paused', 'workflow.cancelled']);

    const { events: stored } = await plangate.tasks.timeline(id);
    for (const last_event_id of [stored.at(-3)?.stream_id, stored.at(-3)?.seq]) {
      const rest = await all(plangate.events.stream(id, { last_event_id }));
      expect(seqs(rest)).toEqual([stored.at(-2)?.seq]);
    }
    expect(await all(plangate.events.stream(id, { last_event_id: stored.at(-1)?.stream_id }))).toEqual([]);
    await expect(plangate.events.stream('task-unknown').next()).rejects.toBeInstanceOf(NotFoundError);
    expect(() => plangate.events.stream(id, { last_event_id: 'yesterday' })).toThrow(TypeError);
  });

  test('P56 events that are no longer kept are reported as a gap, then the rest comes', async () => {
    const plangate = new Plangate({ baseUrl: product.stack.gatewayUrl });
    const { task_id } = await plangate.tasks.submit({ query: 'What is kept?' });
    await plangate.tasks.wait(task_id);
    const { events: stored } = await plangate.tasks.timeline(task_id);
    await trim(product.stack.redis.url, task_id, stored[2]?.stream_id ?? '');
    const events = await all(plangate.events.stream(task_id, { last_event_id: 1 }));
    expect(events[0]).toEqual({
      event: 'gap',
      id: null,
      data: { requested: 1, earliest: 3, latest: stored.length },
    });
    expect(seqs(events.slice(1))).toEqual(stored.slice(2, -1).map(({ seq }) => seq));
  });

  test('a stream and every wait outlive a restart of the gateway: each event once, in order, to the end', async () => {
    const plangate = new Plangate({ baseUrl: product.stack.gatewayUrl });
    const id = await reviewed(plangate, 'What causes tides? SDK restart');
    const events: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of plangate.events.stream(id)) events.push(event);
    })();
    await until(() => events.some(({ event }) => event === 'RESEARCH_PLAN_READY'));
    const polled = plangate.tasks.wait(id, { by: 'polling', intervalSeconds: 0.2 });
    const planned = Promise.withResolvers<undefined>();
    product.model.on('What causes tides? SDK slow', () => planned.promise);
    const slow = await plangate.tasks.submit({
      query: 'What causes tides? SDK slow',
      context: { require_review: true },
    });
    const asked: string[] = [];
    const counting = new Plangate({
      baseUrl: product.stack.gatewayUrl,
      fetch: (input, init) => {
        asked.push(String(input));
        return fetch(input, init);
      },
    });
    const ready = counting.review.waitUntilReady(slow);
    // The second look is the one that the gateway holds.
    await until(() => asked.filter((url) => url.includes('/review')).length === 2);

    await product.stack.apps.gateway.stop();
    const gateway = await startApp('gateway', { env: product.stack.env });
    try {
      await plangate.review.approve(await plangate.review.get(id));
      await reading;
      expect(await polled).toMatchObject({ task_id: id, status: 'TASK_STATUS_COMPLETED' });
      planned.resolve(undefined);
      expect(await ready).toMatchObject({ workflow_id: slow.task_id, version: 1 });
      const stored = await product.types(id);
      expect(seqs(events)).toEqual(Array.from({ length: stored.length - 1 }, (_, at) => at + 1));
    } finally {
      planned.resolve(undefined);
      await gateway.stop();
    }
  }, 90_000);
});

describe('against a server that does as its test says', () => {
  let server: ScriptedStream | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  async function opened(...openings: Opening[]) {
    server = await startScriptedStream(openings);
    return { server, plangate: new Plangate({ baseUrl: server.url }) };
  }

  test('P45 ids that come again after a reconnect are left out', async () => {
    const { server, plangate } = await opened(
      (res) => {
        send(res, `retry: 50\n\n${frame(1)}${frame(2)}${frame(3)}${frame(4)}`);
        setTimeout(() => res.socket?.resetAndDestroy(), 50);
      },
      (res) => sendAll(res, `${frame(2)}${frame(3)}${frame(4)}${frame(5)}${DONE}`),
    );
    expect(seqs(await all(plangate.events.stream('task-1')))).toEqual([1, 2, 3, 4, 5]);
    expect(server.openings.map(({ after }) => after)).toEqual([null, '1-4']);
  });

  test('a stream on which nothing was told for long comes back too: its gateway was there until it broke off', async () => {
    const { plangate } = await opened(
      (res) => {
        send(res, 'retry: 50\n\n: ping\n\n');
        setTimeout(() => res.socket?.resetAndDestroy(), 1_000);
      },
      (res) => res.socket?.resetAndDestroy(),
      (res) => sendAll(res, `${frame(1)}${DONE}`),
    );
    expect(seqs(await all(plangate.events.stream('task-1', { awaySeconds: 0.8 })))).toEqual([1]);
  });

  test('it comes back after the time that retry says, and a clean end without done is no end', async () => {
    const { server, plangate } = await opened(
      (res) => sendAll(res, `retry: 700\n\n${frame(1)}`),
      (res) => sendAll(res, `${frame(2)}${DONE}`),
    );
    expect(seqs(await all(plangate.events.stream('task-1')))).toEqual([1, 2]);
    const [first, second] = server.openings;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(500);
  });

  test('204 is the end', async () => {
    const { server, plangate } = await opened(
      (res) => sendAll(res, `retry: 10\n\n${frame(1)}`),
      (res) => res.writeHead(204).end(),
    );
    expect(seqs(await all(plangate.events.stream('task-1')))).toEqual([1]);
    expect(server.openings).toHaveLength(2);
  });

  test('a half-open connection is noticed by its silence', async () => {
    const { server, plangate } = await opened(
      (res) => send(res, `retry: 10\n\n${frame(1)}`),
      (res) => sendAll(res, `${frame(2)}${DONE}`),
    );
    expect(seqs(await all(plangate.events.stream('task-1', { silenceSeconds: 0.3 })))).toEqual([1, 2]);
    await until(() => server.closed() === 2);
  });

  test('comments keep a quiet stream open', async () => {
    const { server, plangate } = await opened((res) => {
      let pings = 0;
      send(res, frame(1));
      const timer = setInterval(() => {
        pings += 1;
        send(res, ': ping\n\n');
        if (pings < 8) return;
        clearInterval(timer);
        res.end(`${frame(2)}${DONE}`);
      }, 100);
    });
    expect(seqs(await all(plangate.events.stream('task-1', { silenceSeconds: 0.6 })))).toEqual([1, 2]);
    expect(server.openings).toHaveLength(1);
  });

  test('a signal ends the stream at once with its reason, and closes the connection', async () => {
    const { server, plangate } = await opened((res) => send(res, frame(1)));
    const controller = new AbortController();
    const events: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of plangate.events.stream('task-1', { signal: controller.signal }))
        events.push(event);
    })();
    await until(() => events.length === 1);
    controller.abort(new Error('page closed'));
    await expect(reading).rejects.toThrow('page closed');
    await until(() => server.closed() === 1);
    const aborted = AbortSignal.abort(new Error('before'));
    await expect(plangate.events.stream('task-1', { signal: aborted }).next()).rejects.toThrow('before');
    expect(server.openings).toHaveLength(1);
  });

  test('leaving the loop closes the connection', async () => {
    const { server, plangate } = await opened((res) => send(res, frame(1) + frame(2)));
    for await (const event of plangate.events.stream('task-1')) {
      expect(seqs([event])).toEqual([1]);
      break;
    }
    await until(() => server.closed() === 1);
  });

  test('a reader leaves at once also while the next event is waited for, or the stream is being opened', async () => {
    const { server, plangate } = await opened(
      (res) => send(res, frame(1)),
      (res) => void res,
    );
    const events = plangate.events.stream('task-1');
    await events.next();
    const waiting = events.next();
    expect(await events.return()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    await until(() => server.closed() === 1);
    const opening = plangate.events.stream('task-1');
    const first = opening.next();
    await until(() => server.openings.length === 2);
    await opening.return();
    expect(await first).toEqual({ done: true, value: undefined });
    await until(() => server.closed() === 2);
  });

  test('P56 a gap is told once, however often the connection breaks before anything comes after it', async () => {
    const gap = (earliest: number) =>
      `retry: 10\n\nevent: gap\ndata: ${JSON.stringify({ requested: '1-1', earliest, latest: 9 })}\n\n`;
    const { plangate } = await opened(
      (res) => sendAll(res, gap(5)),
      (res) => sendAll(res, gap(5)),
      (res) => sendAll(res, gap(6)),
      (res) => sendAll(res, `${gap(6)}${frame(6)}${DONE}`),
    );
    const events = await all(plangate.events.stream('task-1', { last_event_id: '1-1' }));
    expect(events.map(({ event, data }) => ('earliest' in data ? data.earliest : event))).toEqual([
      5,
      6,
      'PROGRESS',
    ]);
  });

  test('a reader that takes nothing lets the server wait', async () => {
    let sent = 0;
    let isBlocked = false;
    const filler = 'x'.repeat(60_000);
    const { plangate } = await opened((res) => {
      const write = () => {
        while (sent < 1_000) {
          sent += 1;
          if (!send(res, frame(sent, 'PROGRESS', filler))) {
            isBlocked = true;
            res.once('drain', () => {
              isBlocked = false;
              write();
            });
            return;
          }
        }
        res.end(DONE);
      };
      write();
    });
    const stream = plangate.events.stream('task-1');
    await stream.next();
    let before = -1;
    await until(() => {
      const settled = isBlocked && before === sent;
      before = sent;
      return settled;
    });
    await stays(() => sent === before, 300);
    expect(sent).toBeLessThan(500);
    const rest = await all(stream);
    expect(rest).toHaveLength(999);
  });

  test('a gateway that refuses at first is asked again, then its error is thrown', async () => {
    const tooMany: Opening = (res) => {
      res.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '0' });
      res.end('{"error":"Too many open streams","code":"too_many_streams"}');
    };
    const { server, plangate } = await opened(tooMany);
    const error = await plangate.events
      .stream('task-1')
      .next()
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(server.openings).toHaveLength(3);
  });

  test('a gateway that stays away ends the stream after awaySeconds', async () => {
    const { plangate } = await opened(
      (res) => sendAll(res, `retry: 10\n\n${frame(1)}`),
      (res) => res.socket?.resetAndDestroy(),
    );
    const stream = plangate.events.stream('task-1', { awaySeconds: 0.5 });
    await stream.next();
    await expect(stream.next()).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const list: StreamEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** Drops the events before this one, as the store does where it keeps fewer. */
async function trim(redisUrl: string, id: string, before: string): Promise<void> {
  const redis = connectRedis(redisUrl);
  await until(() => redis.status === 'ready');
  await redis.xtrim(`events:{${id}}`, 'MINID', before);
  redis.disconnect();
}
