import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { WorkflowId } from '@plangate/contracts';
import { reviewKeys } from '@plangate/review/redis';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { ALICE, type Answer, type Asking, askServer, type Rig, startRig, until } from './rig.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let rig: Rig;
let temporal: TemporalEyes;
/** A Temporal that takes requests and never answers: nobody can tell what has become of them. */
let silent: Http2Server;
const silentSessions = new Set<ServerHttp2Session>();
let silentAddress: string;
beforeAll(async () => {
  const temporalAddress = inject('temporalAddress');
  temporal = await watchTemporal(temporalAddress);
  rig = await startRig({ temporalAddress });
  silent = createServer();
  silent.on('session', (session) => {
    silentSessions.add(session);
    session.on('error', () => {});
  });
  silent.on('stream', (stream) => void stream.on('error', () => {}));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  silentAddress = typeof address === 'object' && address ? `127.0.0.1:${address.port}` : '';
});
afterAll(async () => {
  await rig.stop();
  await temporal.close();
  for (const session of silentSessions) session.destroy();
  silent.close();
});

const TASKS = '/api/v1/tasks';
const keyed = (key: string, headers = {}) => ({ 'Idempotency-Key': key, ...headers });
const act = (id: WorkflowId, body: unknown, key: string, headers = {}, from = rig) =>
  from.post(`${TASKS}/${id}/review`, body, keyed(key, headers));
const isCached = ({ headers }: Answer) => headers['x-idempotency-cached'] === 'true';
const versionOf = async (id: WorkflowId) => (await rig.reviews.load(id)).state?.version;

/** A process takes long to start while others have the machine. */
const SLOW_MS = 120_000;
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Sends a request to a gateway in a process of its own and kills that as soon as `landed`, in front of the answer.
 * It has 2 s for that, as long as the gateway waits for Temporal; tried again where the machine was too slow.
 */
async function killedMidway<T>(begin: () => Promise<KilledRequest<T>>): Promise<T> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const gateway = await killable(silentAddress);
    const { path, asking, landed, value } = await begin();
    const lost = askServer(gateway.port, path, asking).catch((error: unknown) => error);
    await until(landed);
    await gateway.kill();
    if ((await lost) instanceof Error) return value;
  }
  throw new Error('the gateway has always answered before it was killed');
}
interface KilledRequest<T> {
  path: string;
  asking: Asking;
  landed: () => Promise<boolean>;
  value: T;
}

/** A gateway in a process of its own, which can be killed. */
async function killable(temporalAddress: string): Promise<{ port: number; kill(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      GATEWAY_PORT: '0',
      GATEWAY_SKIP_AUTH: '0',
      REDIS_URL: rig.redisServer.url,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_TASK_QUEUE: rig.taskQueue,
      LLM_SERVICE_URL: rig.llm.url,
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await until(() => /"url":"http:[^"]+:\d+"/.test(out), SLOW_MS);
  const [, port] = /"url":"http:[^"]+:(\d+)"/.exec(out) ?? [];
  return {
    port: Number(port),
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** What a process that was killed has left runs out, as it does after 30 s. */
async function markersRunOut(): Promise<void> {
  for (const key of await rig.redis.keys('idem:*')) {
    if (!key.endsWith(':reserved')) await rig.redis.del(key);
  }
}

describe('POST /api/v1/tasks', () => {
  test('of many at once with one key one task comes out, and its headers with every answer', async () => {
    const key = ulid();
    const body = { query: 'Once' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => rig.post(TASKS, body, keyed(key))));
    const done = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(done.length).toBeGreaterThan(0);
    const again = await rig.post(TASKS, body, keyed(key));
    expect([again.status, isCached(again)]).toEqual([200, true]);
    expect(new Set([...done, again].map(({ json }) => json.task_id)).size).toBe(1);
    expect(again.headers['x-session-id']).toBe(again.json.session_id);
    expect(again.headers['x-workflow-id']).toBe(again.json.task_id);
    const { tasks } = (await rig.ask(`${TASKS}?session_id=${again.json.session_id}`)).json;
    expect(tasks).toHaveLength(1);
  });

  test('the stream route answers 201 again, and another route is another scope', async () => {
    const key = ulid();
    const first = await rig.post(`${TASKS}/stream`, { query: 'x' }, keyed(key));
    const again = await rig.post(`${TASKS}/stream`, { query: 'x' }, keyed(key));
    expect([again.status, again.json, again.headers.link]).toEqual([201, first.json, first.headers.link]);
    expect(isCached(again)).toBe(true);
    const other = await rig.post(TASKS, { query: 'x' }, keyed(key));
    expect(other.json.task_id).not.toBe(first.json.task_id);
  });

  test('another body is 422; a refused one is not kept; the order of checks holds', async () => {
    const key = ulid();
    expect((await rig.post(TASKS, { query: '' }, keyed(key))).status).toBe(400);
    expect((await rig.post(TASKS, { query: 'mended' }, keyed(key))).status).toBe(200);
    expect((await rig.post(TASKS, { query: '' }, keyed(key))).status).toBe(422);
    expect((await rig.post(TASKS, { query: 'x' }, keyed('x'.repeat(256)))).json.code).toBe(
      'invalid_idempotency_key',
    );
    const noKey = { method: 'POST', body: {}, key: null, headers: keyed('x'.repeat(256)) };
    expect((await rig.ask(TASKS, noKey)).status).toBe(401);
    const badId = await rig.post(`${TASKS}/a%20b/cancel`, {}, keyed('x'.repeat(256)));
    expect(badId.json.code).toBe('invalid_task_id');
  });

  test('after a start whose outcome is unknown a retry uses the same id, and one task runs', async () => {
    const stuck = await startRig({ redis: rig.redisServer, temporalAddress: silentAddress });
    const key = ulid();
    const body = { query: 'Unknown outcome', session_id: `s-${ulid()}` };
    const asAlice = { key: rig.keys.alice, method: 'POST', body, headers: keyed(key) };
    try {
      expect((await stuck.ask(TASKS, asAlice)).status).toBe(503);
    } finally {
      await stuck.stop();
    }
    const [{ task_id }] = (await rig.ask(`${TASKS}?session_id=${body.session_id}`)).json.tasks;
    const retried = await rig.post(TASKS, body, keyed(key));
    expect([retried.status, retried.json.task_id]).toEqual([200, task_id]);
    expect((await rig.ask(`${TASKS}?session_id=${body.session_id}`)).json.total_count).toBe(1);
    expect((await temporal.started(task_id))?.type).toBe('TaskWorkflow');
  });

  test('after a start that certainly failed a retry uses the same id', async () => {
    const away = await startRig({ redis: rig.redisServer });
    const key = ulid();
    const body = { query: 'Refused', session_id: `s-${ulid()}` };
    try {
      const asked = { key: rig.keys.alice, method: 'POST', body, headers: keyed(key) };
      expect((await away.ask(TASKS, asked)).status).toBe(503);
    } finally {
      await away.stop();
    }
    const reserved = await Promise.all(
      (await rig.redis.keys('idem:*:reserved')).map(async (name) =>
        JSON.parse((await rig.redis.get(name)) ?? ''),
      ),
    );
    const retried = await rig.post(TASKS, body, keyed(key));
    expect(retried.status).toBe(200);
    expect(reserved.map(({ name }) => name)).toContain(retried.json.task_id);
  });

  test('a retry after the sweep has given the first attempt up starts a new task', async () => {
    const stuck = await startRig({ redis: rig.redisServer, temporalAddress: silentAddress });
    const key = ulid();
    const body = { query: 'Given up', session_id: `s-${ulid()}` };
    try {
      await stuck.ask(TASKS, { key: rig.keys.alice, method: 'POST', body, headers: keyed(key) });
    } finally {
      await stuck.stop();
    }
    const [{ task_id }] = (await rig.ask(`${TASKS}?session_id=${body.session_id}`)).json.tasks;
    await rig.tasks.end(task_id, { kind: 'not_started' });
    const retried = await rig.post(TASKS, body, keyed(key));
    expect(retried.status).toBe(200);
    expect(retried.json.task_id).not.toBe(task_id);
    expect((await rig.post(TASKS, body, keyed(key))).json.task_id).toBe(retried.json.task_id);
  });

  test('SIGKILL between record and answer: a retry finds the same task', {
    timeout: 2 * SLOW_MS,
  }, async () => {
    const tasksOf = async (sessionId: string) =>
      (await rig.tasks.listByOwner(ALICE, { limit: 10, offset: 0, sessionId })).records;
    const { key, body } = await killedMidway(async () => {
      const key = ulid();
      const body = { query: 'Killed', session_id: `s-${ulid()}` };
      return {
        path: TASKS,
        asking: { key: rig.keys.alice, method: 'POST', body, headers: keyed(key) },
        landed: async () => (await tasksOf(body.session_id)).length === 1,
        value: { key, body },
      };
    });
    await markersRunOut();
    const [found] = await tasksOf(body.session_id);
    const retried = await rig.post(TASKS, body, keyed(key));
    expect([retried.status, retried.json.task_id]).toEqual([200, found?.task_id]);
    expect(await tasksOf(body.session_id)).toHaveLength(1);
  });
});

describe('control', () => {
  test('a repeated cancel gets the first answer without asking again', async () => {
    const { task_id } = await rig.task();
    await temporal.start(task_id);
    const key = ulid();
    const pause = () => rig.post(`${TASKS}/${task_id}/pause`, { reason: 'lunch' }, keyed(key));
    const first = await pause();
    const again = await pause();
    expect([again.status, again.json, isCached(again)]).toEqual([202, first.json, true]);
    const otherKey = await rig.post(`${TASKS}/${task_id}/pause`, { reason: 'lunch' }, keyed(ulid()));
    expect(otherKey.json.error).toBe('task is already paused');
    expect(await temporal.signals(task_id)).toHaveLength(1);
  });

  /** Through a gateway that never hears what has become of its signal. */
  async function unheard(path: string, key: string): Promise<Answer> {
    const stuck = await startRig({ redis: rig.redisServer, temporalAddress: silentAddress });
    try {
      return await stuck.ask(path, { key: rig.keys.alice, method: 'POST', body: {}, headers: keyed(key) });
    } finally {
      await stuck.stop();
    }
  }
  const by = { reason: '', by: 'alice' };

  test('P89 a pause or resume that landed although its answer was lost is 202 for its key, and not asked for again', async () => {
    const { task_id } = await rig.task();
    await temporal.start(task_id);
    for (const [action, land] of [
      ['pause', () => rig.tasks.setPaused(task_id, by)],
      ['resume', () => rig.tasks.setResumed(task_id)],
    ] as const) {
      const path = `${TASKS}/${task_id}/${action}`;
      const key = ulid();
      expect((await unheard(path, key)).status).toBe(503);
      await land();
      expect((await rig.post(path, {}, keyed(ulid()))).status).toBe(409);
      const retried = await rig.post(path, {}, keyed(key));
      expect([retried.status, retried.json.success]).toEqual([202, true]);
    }
    expect(await temporal.signals(task_id)).toEqual([]);
  });

  test('P89 SIGKILL between signal and answer: the same pause is 202 once the task is paused', async () => {
    const key = ulid();
    const reserved = async () => (await rig.redis.keys('idem:*:reserved')).length;
    const path = await killedMidway(async () => {
      const { task_id } = await rig.task();
      await temporal.start(task_id);
      const before = await reserved();
      const path = `${TASKS}/${task_id}/pause`;
      return {
        path,
        asking: { key: rig.keys.alice, method: 'POST', body: {}, headers: keyed(key) },
        landed: async () => (await reserved()) > before,
        value: { path, task_id },
      };
    });
    await rig.tasks.setPaused(path.task_id, by);
    expect((await rig.post(path.path, {}, keyed(key))).json.code).toBe('idempotency_running');
    await markersRunOut();
    expect((await rig.post(path.path, {}, keyed(key))).status).toBe(202);
  }, 240_000);

  test('a refusal of a key is no attempt: the same key is refused again', async () => {
    const { task_id } = await rig.task();
    await rig.tasks.setPaused(task_id, by);
    const key = ulid();
    const pause = () => rig.post(`${TASKS}/${task_id}/pause`, {}, keyed(key));
    for (let n = 0; n < 2; n += 1) expect((await pause()).json.error).toBe('task is already paused');
  });

  test('a task that was paused by a request whose answer was lost can be resumed', async () => {
    const { task_id } = await rig.task();
    await temporal.start(task_id);
    const ask = async (action: string) => (await rig.post(`${TASKS}/${task_id}/${action}`, {})).status;
    expect(await ask('pause')).toBe(202);
    await rig.tasks.setPaused(task_id, by);
    expect(await ask('resume')).toBe(202);
    await rig.tasks.setResumed(task_id);
    expect((await unheard(`${TASKS}/${task_id}/pause`, ulid())).status).toBe(503);
    await rig.tasks.setPaused(task_id, by);
    expect(await ask('resume')).toBe(202);
  });

  test('a request without a body has a key too', async () => {
    const { task_id } = await rig.task();
    await temporal.start(task_id);
    const key = ulid();
    const cancel = () => rig.ask(`${TASKS}/${task_id}/cancel`, { method: 'POST', headers: keyed(key) });
    expect([(await cancel()).status, isCached(await cancel())]).toEqual([202, true]);
  });
});

describe('POST …/review', () => {
  const actions: [string, object][] = [
    ['feedback', { message: 'Shorter' }],
    ['edit', { plan: 'My own' }],
    ['extend', { seconds: 60 }],
    ['reject', { reason: 'no' }],
    ['approve', {}],
  ];
  test.each(actions)('%s is done once: the repetition has its body and ETag', async (action, fields) => {
    const id = await rig.review();
    await temporal.start(id);
    const key = ulid();
    const body = { action, ...fields };
    const first = await act(id, body, key, { 'If-Match': '1' });
    expect(first.status).toBe(200);
    const again = await act(id, body, key, { 'If-Match': '1' });
    expect([again.status, again.json, again.headers.etag]).toEqual([200, first.json, first.headers.etag]);
    expect([isCached(first), isCached(again), await versionOf(id)]).toEqual([false, true, 2]);
    expect((await act(id, { ...body, more: 1 }, key)).status).toBe(422);
    expect(await rig.redis.keys(`${reviewKeys(id).review}:idem:*`)).toHaveLength(1);
  });

  test('P89 a landed write whose answer was lost: the retry returns the outcome and signals again', async () => {
    const stuck = await startRig({ redis: rig.redisServer, temporalAddress: silentAddress });
    const id = await rig.review();
    await temporal.start(id);
    const key = ulid();
    const text = JSON.stringify({ action: 'approve' });
    try {
      const socket = connect(stuck.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(
        `POST ${TASKS}/${id}/review HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${rig.keys.alice}\r\n` +
          `Idempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
      await until(async () => (await rig.reviews.load(id)).state?.status === 'approved');
      socket.resetAndDestroy();
    } finally {
      await stuck.stop();
    }
    expect((await rig.reviews.load(id)).undelivered).not.toBeNull();
    const retried = await act(id, { action: 'approve' }, key);
    expect([retried.status, retried.json]).toEqual([
      200,
      { status: 'approved', message: 'Research started' },
    ]);
    expect([isCached(retried), retried.headers.etag]).toEqual([true, '"2"']);
    const signals = await temporal.signals(id);
    // The sweep may have been there too; whoever signals tells of this one decision.
    expect(new Set(signals.map(({ name }) => name))).toEqual(new Set([`research-plan-approved-${id}`]));
    const decision_id = (await rig.reviews.load(id)).state?.decision?.id;
    for (const { payload } of signals) expect(payload).toMatchObject({ decision_id, version: 2 });
  });

  test('P89 SIGKILL between commit and answer loses no approve and no record of it', {
    timeout: 2 * SLOW_MS,
  }, async () => {
    const { key, id } = await killedMidway(async () => {
      const key = ulid();
      const id = await rig.review();
      await temporal.start(id);
      const body = { action: 'approve' };
      return {
        path: `${TASKS}/${id}/review`,
        asking: { key: rig.keys.alice, method: 'POST', body, headers: keyed(key) },
        landed: async () => (await rig.reviews.load(id)).state?.status === 'approved',
        value: { key, id },
      };
    });
    const retried = await act(id, { action: 'approve' }, key);
    expect([retried.status, retried.json.message, isCached(retried)]).toEqual([
      200,
      'Research started',
      true,
    ]);
    expect(await versionOf(id)).toBe(2);
  });

  test('an approve that is recorded but not delivered says so, and later that research started', async () => {
    const away = await startRig({ redis: rig.redisServer });
    const id = await rig.review();
    await temporal.start(id);
    const key = ulid();
    const asked = { key: rig.keys.alice, method: 'POST', body: { action: 'approve' }, headers: keyed(key) };
    try {
      for (const cached of [false, true]) {
        const answer = await away.ask(`${TASKS}/${id}/review`, asked);
        expect(answer.json.message).toBe('Approval recorded; research starts when the task engine is back');
        expect(isCached(answer)).toBe(cached);
      }
    } finally {
      await away.stop();
    }
    const later = await act(id, { action: 'approve' }, key);
    expect([later.json.message, isCached(later)]).toEqual(['Research started', true]);
  });

  test('an approve that is taken back takes its record along: the repetition is 409', async () => {
    const away = await startRig({ redis: rig.redisServer });
    const id = await rig.review();
    await rig.tasks.confirmStart(id);
    const key = ulid();
    const asked = { key: rig.keys.alice, method: 'POST', body: { action: 'approve' }, headers: keyed(key) };
    try {
      expect((await away.ask(`${TASKS}/${id}/review`, asked)).status).toBe(200);
    } finally {
      await away.stop();
    }
    expect(await rig.redis.keys(`${reviewKeys(id).review}:idem:*`)).toHaveLength(1);
    const repeated = await act(id, { action: 'approve' }, key);
    expect([repeated.status, repeated.json.error]).toEqual([409, 'Review is closed: cancelled']);
    expect(await rig.redis.keys(`${reviewKeys(id).review}:idem:*`)).toEqual([]);
  });

  test('an approve of an approved review is kept too, by the decision that stands', async () => {
    const id = await rig.review();
    await temporal.start(id);
    await act(id, { action: 'approve' }, ulid());
    const key = ulid();
    expect((await act(id, { action: 'approve' }, key)).status).toBe(200);
    const again = await act(id, { action: 'approve' }, key);
    expect([again.status, isCached(again), await versionOf(id)]).toEqual([200, true, 2]);
  });

  test('a feedback that runs answers 409 to its repetition and asks the model once', async () => {
    const id = await rig.review();
    const { reply } = rig.llm;
    let answer = () => {};
    const opened = new Promise<void>((resolve) => {
      answer = resolve;
    });
    rig.llm.reply = async (request) => {
      await opened;
      return reply(request);
    };
    const asked = rig.llm.requests.length;
    const key = ulid();
    const body = { action: 'feedback', message: 'Slow' };
    const first = act(id, body, key);
    await until(() => rig.llm.requests.length === asked + 1);
    const repeated = await act(id, body, key);
    expect([repeated.status, repeated.json.code]).toEqual([409, 'idempotency_running']);
    answer();
    rig.llm.reply = reply;
    expect((await first).status).toBe(200);
    expect((await act(id, body, key)).json).toEqual((await first).json);
    expect(rig.llm.requests).toHaveLength(asked + 1);
  });

  test('a feedback that failed is not kept: the same key works again', async () => {
    const id = await rig.review();
    const { reply } = rig.llm;
    rig.llm.reply = () => ({ status: 502 });
    const key = ulid();
    const body = { action: 'feedback', message: 'x' };
    expect((await act(id, body, key)).status).toBe(502);
    rig.llm.reply = reply;
    const again = await act(id, body, key);
    expect([again.status, isCached(again)]).toEqual([200, false]);
  });

  test('somebody else’s key of the same name is theirs: 403, and nothing is replayed to them', async () => {
    const id = await rig.review();
    const key = ulid();
    await act(id, { action: 'edit', plan: 'Mine' }, key);
    const foreign = await rig.ask(`${TASKS}/${id}/review`, {
      method: 'POST',
      key: rig.keys.bob,
      body: { action: 'edit', plan: 'Mine' },
      headers: keyed(key),
    });
    expect(foreign.status).toBe(403);
  });
});
