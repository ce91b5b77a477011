import { redisForFile } from '@plangate/devstack/vitest-redis';
import { connectRedis } from '@plangate/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  answerOnce,
  HttpError,
  idempotencyStore,
  type KeptReply,
  keyedRequest,
  type OnceOptions,
  sendReply,
  type Ticket,
} from '../src/index.ts';
import { serve, type TestServer } from './serve.ts';

const { server: redisServer, redis } = await redisForFile({ flush: true });
let server: TestServer;
/** What the route does; counted. */
let work: (ticket: Ticket) => Promise<KeptReply>;
let options: Partial<OnceOptions> = {};
let runs = 0;
let faults: unknown[] = [];

beforeAll(async () => {
  const store = idempotencyStore(redis);
  server = await serve(async (req, res) => {
    const user = String(req.headers['x-user'] ?? 'alice');
    const scope = { owner: { user, tenant: 'acme' }, route: `POST ${req.url}` };
    const request = await keyedRequest(req, scope);
    const once: OnceOptions = { store, request, onFault: (fault) => faults.push(fault), ...options };
    const reply = await answerOnce(once, (ticket) => {
      runs += 1;
      return work(ticket);
    });
    sendReply(res, reply);
  });
});
afterAll(async () => {
  await server.close();
});
beforeEach(() => {
  runs = 0;
  faults = [];
  options = {};
  work = async () => ({ status: 201, body: { run: runs }, headers: { ETag: `"${runs}"` } });
});

const post = (key: string | null, body = '{}', more: { path?: string; user?: string } = {}) =>
  server.ask(more.path ?? '/things', {
    method: 'POST',
    body,
    headers: {
      ...(key === null ? {} : { 'Idempotency-Key': key }),
      ...(more.user ? { 'X-User': more.user } : {}),
    },
  });

/** A promise to be kept by hand. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a finished 2xx', () => {
  test('is given again with status, body and ETag, and says so', async () => {
    const first = await post('k');
    expect([first.status, first.headers['x-idempotency-cached']]).toEqual([201, undefined]);
    const second = await post('k');
    expect([second.status, second.json, second.headers.etag]).toEqual([201, { run: 1 }, '"1"']);
    expect(second.headers['x-idempotency-cached']).toBe('true');
    expect(runs).toBe(1);
  });

  test('is kept for 24 hours', async () => {
    await post('k');
    const [key] = await redis.keys('idem:*');
    expect(await redis.pttl(key ?? '')).toBeGreaterThan(86_390_000);
    expect(await redis.pttl(key ?? '')).toBeLessThanOrEqual(86_400_000);
  });

  test('another body under its key is 422, byte by byte', async () => {
    await post('k', '{"a":1}');
    const other = await post('k', '{"a": 1}');
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_mismatch']);
    expect(runs).toBe(1);
  });

  test('belongs to its caller, its route and its key', async () => {
    await post('k');
    for (const answer of [
      await post('k', '{}', { user: 'bob' }),
      await post('k', '{}', { path: '/others' }),
      await post('K'),
      await post(null),
    ]) {
      expect(answer.headers['x-idempotency-cached']).toBeUndefined();
    }
    expect(runs).toBe(5);
  });
});

describe('a request that is running', () => {
  test('answers its repetitions 409 with Retry-After, another body 422, and is done once', async () => {
    const { opened, open } = gate();
    work = async () => {
      await opened;
      return { status: 200, body: 'done' };
    };
    const first = post('k');
    await expect.poll(() => runs).toBe(1);
    const repeated = await Promise.all(Array.from({ length: 20 }, () => post('k')));
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set([409]));
    expect(repeated[0]?.json.code).toBe('idempotency_running');
    expect(Number(repeated[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await post('k', '{"other":true}')).status).toBe(422);
    open();
    expect((await first).json).toBe('done');
    expect((await post('k')).json).toBe('done');
    expect(runs).toBe(1);
  });

  test('of twenty at once one is worked on', async () => {
    const { opened, open } = gate();
    work = async () => {
      await opened;
      return { status: 200, body: runs };
    };
    const all = Array.from({ length: 20 }, () => post('k'));
    let answered = 0;
    for (const one of all) void one.then(() => (answered += 1));
    await expect.poll(() => answered, { timeout: 10_000 }).toBe(19);
    open();
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(19).fill(409)]);
    expect(runs).toBe(1);
  });

  test('has a marker that is renewed as long as it runs, and ends soon after a crash', async () => {
    const { opened, open } = gate();
    options = { markerMs: 600 };
    work = async () => {
      await opened;
      return { status: 200, body: '' };
    };
    const first = post('k');
    await expect.poll(() => runs).toBe(1);
    const [key = ''] = await redis.keys('idem:*');
    // Renewed: its lifetime goes up again.
    let last = await redis.pttl(key);
    let renewals = 0;
    await expect
      .poll(
        async () => {
          const now = await redis.pttl(key);
          if (now > last) renewals += 1;
          last = now;
          return renewals;
        },
        { interval: 20, timeout: 5_000 },
      )
      .toBeGreaterThanOrEqual(3);
    expect((await post('k')).status).toBe(409);
    open();
    await first;
    // The marker of a process that was killed: nobody renews it.
    await redis.flushall();
    const marker = JSON.stringify({ kind: 'running', token: 'of the dead', body_sha256: 'a'.repeat(64) });
    await redis.set(key, marker, 'PX', 300);
    expect((await post('k')).status).toBe(422);
    await expect.poll(() => redis.exists(key)).toBe(0);
    expect((await post('k')).status).toBe(200);
  });
});

describe('answers other than 2xx', () => {
  test.each([400, 404, 409, 500, 503])(
    '%i is not kept: the same key works again, with any body',
    async (status) => {
      work = async () => {
        throw new HttpError(status, 'some_code', 'No');
      };
      expect((await post('k')).status).toBe(status);
      expect(await redis.keys('idem:*')).toEqual([]);
      work = async () => ({ status: 200, body: 'yes' });
      const again = await post('k', '{"mended":true}');
      expect([again.status, again.headers['x-idempotency-cached']]).toEqual([200, undefined]);
    },
  );
});

describe('keys', () => {
  test('have 1 to 255 characters', async () => {
    for (const key of ['', 'x'.repeat(256)]) {
      const answer = await post(key);
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_idempotency_key']);
    }
    expect((await post('x'.repeat(255))).status).toBe(201);
    expect(runs).toBe(1);
  });
});

describe('characters of a key that is not ASCII', () => {
  /** Node takes a field value as one code unit per byte, and hands it over so. */
  const inUtf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

  test.each([
    ['two bytes each in UTF-8', inUtf8('é'.repeat(255)), inUtf8('é'.repeat(256))],
    ['three bytes each in UTF-8', inUtf8('潮'.repeat(255)), inUtf8('潮'.repeat(256))],
    ['beyond the basic plane', inUtf8('🌊'.repeat(255)), inUtf8('🌊'.repeat(256))],
    [
      'a byte order mark and its text',
      inUtf8(`\ufeff${'x'.repeat(254)}`),
      inUtf8(`\ufeff${'x'.repeat(255)}`),
    ],
    ['one byte each in Latin-1', 'é'.repeat(255), 'é'.repeat(256)],
    ['UTF-8 that breaks off', `${inUtf8('潮'.repeat(84))}\u00e6\u00bd`, `${inUtf8('潮'.repeat(85))}\u00e6`],
  ])('%s: 255 are taken, 256 are not', async (_, longest, tooLong) => {
    expect((await post(longest)).status).toBe(201);
    const refused = await post(tooLong);
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_idempotency_key']);
    expect((await post(longest)).headers['x-idempotency-cached']).toBe('true');
    expect(runs).toBe(1);
  });

  test('name different requests where the bytes differ, whatever they show', async () => {
    await post('é');
    expect((await post(inUtf8('é'))).headers['x-idempotency-cached']).toBeUndefined();
    expect(runs).toBe(2);
  });
});

describe('names that are reserved', () => {
  const reserving = async (ticket: Ticket, status = 200): Promise<KeptReply> => {
    const name = await ticket.reserve(() => `name-${runs}`);
    if (status >= 400) throw new HttpError(status, 'some_code', 'No');
    return { status, body: name };
  };

  test('are the same after a failed attempt with the same body, and others with another body', async () => {
    work = (ticket) => reserving(ticket, 503);
    await post('k');
    await post('k');
    work = (ticket) => reserving(ticket);
    expect((await post('k')).json).toBe('name-1');
    work = (ticket) => reserving(ticket, 503);
    await post('l');
    work = (ticket) => reserving(ticket);
    expect((await post('l', '{"other":1}')).json).toBe('name-5');
  });

  test('are the same after a crash, once the marker has run out', async () => {
    const { opened, open } = gate();
    work = async (ticket) => {
      const reply = await reserving(ticket);
      await opened;
      return reply;
    };
    const lost = post('k');
    await expect.poll(() => redis.keys('idem:*:reserved')).toHaveLength(1);
    const [marker = ''] = (await redis.keys('idem:*')).filter((key) => !key.endsWith(':reserved'));
    await redis.del(marker);
    work = (ticket) => reserving(ticket);
    expect((await post('k')).json).toBe('name-1');
    open();
    await lost;
  });

  test('that cannot be read are said to be unreadable', async () => {
    work = (ticket) => reserving(ticket, 503);
    await post('k');
    const [reservation = ''] = await redis.keys('idem:*:reserved');
    await redis.set(reservation, '{"of":"another version"}');
    expect((await post('k')).json.code).toBe('unreadable_state');
    expect(await redis.get(reservation)).toBe('{"of":"another version"}');
  });
});

describe('a record that a script has written', () => {
  test('stands, whatever the answer is then', async () => {
    work = async (ticket) => {
      const record = ticket.record({ status: 200, body: 'as committed', headers: { ETag: '"2"' } });
      if (record) await redis.set(record.key, record.value, 'EX', record.ttlSeconds);
      throw new Error('between commit and answer');
    };
    expect((await post('k')).status).toBe(500);
    const again = await post('k');
    expect([again.status, again.json, again.headers.etag]).toEqual([200, 'as committed', '"2"']);
    expect(runs).toBe(1);
  });

  test('of a decision is built anew by its route, and worked on again where it no longer holds', async () => {
    work = async () => ({ status: 200, body: 'then', decisionId: 'd1' });
    await post('k');
    options = { replay: async ({ decision_id }) => ({ status: 200, body: `now ${decision_id}` }) };
    expect((await post('k')).json).toBe('now d1');
    options = { replay: async () => null };
    work = async () => ({ status: 200, body: 'again' });
    const again = await post('k');
    expect([again.json, again.headers['x-idempotency-cached']]).toEqual(['again', undefined]);
    expect(runs).toBe(2);
  });
});

test('while the store is away a request with a key is 503, and one without is answered', async () => {
  const away = connectRedis('redis://127.0.0.1:1/0');
  options = { store: idempotencyStore(away) };
  expect((await post('k')).status).toBe(503);
  expect((await post(null)).status).toBe(201);
  expect(faults).toEqual([]);
  away.disconnect();
});

test('a store that stalls and goes on leaves no marker of a request that nobody works on', async () => {
  expect((await post('before')).status).toBe(201);
  process.kill(redisServer.pid, 'SIGSTOP');
  try {
    expect((await post('k')).status).toBe(503);
  } finally {
    process.kill(redisServer.pid, 'SIGCONT');
  }
  await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 10_000 }).toBe('PONG');
  expect((await post('k')).status).toBe(201);
});

test('a request that fails because the store is away is answered without waiting for the store again', async () => {
  const store = idempotencyStore(redis);
  options = { store: { ...store, swap: () => new Promise(() => {}) } };
  work = async () => {
    throw new Error('Command timed out');
  };
  expect((await post('k')).status).toBe(503);
});
