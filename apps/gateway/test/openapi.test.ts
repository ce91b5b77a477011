import type { WorkflowId } from '@plangate/contracts';
import type { OpenApiDocument } from '@plangate/contracts/openapi';
import { endTask } from '@plangate/tasks/redis';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Documented, documented } from '../../../test/support/documented.ts';
import { type TemporalEyes, watchTemporal } from './engine-rig.ts';
import { type Answer, type Rig, startRig } from './rig.ts';

let rig: Rig;
let temporal: TemporalEyes;
let document: OpenApiDocument;
let documentation: Documented;
beforeAll(async () => {
  const temporalAddress = inject('temporalAddress');
  temporal = await watchTemporal(temporalAddress);
  rig = await startRig({ temporalAddress });
  document = (await rig.ask('/openapi.json', { key: null })).json;
  documentation = documented(document);
});
afterAll(async () => {
  await rig.stop();
  await temporal.close();
});

describe('the document', () => {
  test('has every route that the router has, and no other', () => {
    expect(documentation.operations.toSorted()).toEqual(rig.gateway.routes.toSorted());
    expect(documentation.operations).toContain('GET /api/v1/tasks/{id}/review');
    expect(documentation.operations).toContain('GET /api/v1/stream/sse');
  });

  test('is valid OpenAPI 3.1, with a name of its own for every operation', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone({ ...document }))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(documentation.operations.length);
  });

  test('is open, says the version of the product, and is the same bytes every time', async () => {
    const [first, second] = [await rig.ask('/openapi.json', { key: null }), await rig.ask('/openapi.json')];
    expect(first.status).toBe(200);
    expect(first.json.info.version).toBe('0.0.0');
    expect(second.text).toBe(first.text);
  });

  test('wants a credential exactly where the gateway does', async () => {
    for (const operation of documentation.operations) {
      const [method = '', path = ''] = operation.split(' ');
      const { security } = document.paths[path]![method.toLowerCase()] as { security: object[] };
      const answer = await rig.ask(path.replace('{id}', 'task-1'), { method, key: null });
      expect([operation, answer.status === 401]).toEqual([operation, security.length > 0]);
      if (answer.status === 401) expect(documentation.against(operation, answer)).toEqual([]);
    }
  });
});

type Ask = () => Promise<Answer>;
const tasks = '/api/v1/tasks';
const sessions = '/api/v1/sessions';
const get = (path: string, headers: Record<string, string> = {}) => rig.ask(path, { headers });
/** Sends a body that the document has nothing against. */
function post(operation: string, path: string, body: unknown): Promise<Answer> {
  expect(documentation.againstRequest(`POST ${operation}`, body)).toEqual([]);
  return rig.post(path, body);
}

/** A task with a workflow that waits for ever. */
async function running(): Promise<WorkflowId> {
  const { task_id } = await rig.task();
  await temporal.start(task_id);
  return task_id;
}
async function finished(): Promise<WorkflowId> {
  const { task_id } = await rig.task();
  const said = { type: 'PROGRESS', agent_id: 'a', message: 'half', payload: { done: 1, total: 2 } } as const;
  await rig.events.append(task_id, [said]);
  const parts = { store: rig.tasks, events: rig.events, keepEventsSeconds: 60 };
  await endTask(task_id, { kind: 'completed', result: 'A report' }, parts);
  return task_id;
}
async function session(): Promise<string> {
  await finished();
  return 's';
}
async function act(body: unknown): Promise<Answer> {
  const id = await rig.review();
  await temporal.start(id);
  return post(`${tasks}/{id}/review`, `${tasks}/${id}/review`, body);
}
async function edited(suffix: string): Promise<Answer> {
  const id = await rig.review();
  await rig.post(`${tasks}/${id}/review`, { action: 'edit', plan: 'Second plan' });
  return get(`${tasks}/${id}/review${suffix}`);
}
async function control(action: string, id: WorkflowId, body: unknown): Promise<Answer> {
  return post(`${tasks}/{id}/${action}`, `${tasks}/${id}/${action}`, body);
}
const SUBMISSION = {
  query: 'What is known?',
  session_id: 'a-session',
  context: { require_review: true, review_timeout: '60' },
  mode: 'standard',
  model_tier: 'small',
  research_strategy: 'quick',
  max_iterations: null,
};

/** What is asked to see each of the answers that the document promises. */
const ANSWERS: Record<string, Ask[]> = {
  [`POST ${tasks} 200`]: [() => post(tasks, tasks, SUBMISSION), () => post(tasks, tasks, { query: 'Hello' })],
  [`POST ${tasks}/stream 201`]: [() => post(`${tasks}/stream`, `${tasks}/stream`, SUBMISSION)],
  [`GET ${tasks} 200`]: [
    async () => {
      await finished();
      return get(`${tasks}?limit=2&status=completed`);
    },
    () => get(`${tasks}?session_id=of-nobody`),
  ],
  [`GET ${tasks}/{id} 200`]: [
    async () => get(`${tasks}/${(await rig.task()).task_id}`),
    async () => get(`${tasks}/${await finished()}`),
  ],
  [`GET ${tasks}/{id}/events 200`]: [async () => get(`${tasks}/${await finished()}/events?limit=2`)],
  [`GET ${tasks}/{id}/timeline 200`]: [async () => get(`${tasks}/${await finished()}/timeline`)],
  [`GET ${tasks}/{id}/stream 307`]: [async () => get(`${tasks}/${await finished()}/stream?types=PROGRESS`)],
  [`GET ${tasks}/{id}/control-state 200`]: [
    async () => get(`${tasks}/${(await rig.task()).task_id}/control-state`),
  ],
  [`POST ${tasks}/{id}/cancel 202`]: [async () => control('cancel', await running(), {})],
  [`POST ${tasks}/{id}/pause 202`]: [async () => control('pause', await running(), { reason: 'lunch' })],
  [`POST ${tasks}/{id}/resume 202`]: [
    async () => {
      const id = await running();
      await rig.tasks.setPaused(id, { by: 'alice', reason: '' });
      return control('resume', id, { reason: null });
    },
  ],
  [`GET ${tasks}/{id}/review 200`]: [
    async () => get(`${tasks}/${await rig.review()}/review?wait=0`),
    async () => {
      const id = await rig.review();
      await rig.post(`${tasks}/${id}/review`, { action: 'reject', reason: 'no' });
      return get(`${tasks}/${id}/review`);
    },
  ],
  [`GET ${tasks}/{id}/review 304`]: [
    async () => get(`${tasks}/${await rig.review()}/review`, { 'If-None-Match': '"1"' }),
  ],
  [`POST ${tasks}/{id}/review 200`]: [
    () => act({ action: 'feedback', message: 'Shorter' }),
    () => act({ action: 'approve' }),
    () => act({ action: 'edit', plan: 'Mine' }),
    () => act({ action: 'reject', reason: null }),
    () => act({ action: 'extend', seconds: 60 }),
  ],
  [`GET ${tasks}/{id}/review/versions 200`]: [() => edited('/versions')],
  [`GET ${tasks}/{id}/review/diff 200`]: [() => edited('/diff?from=1&to=2')],
  [`GET ${tasks}/{id}/review/audit 200`]: [() => edited('/audit')],
  [`GET ${sessions} 200`]: [
    async () => {
      await session();
      return get(`${sessions}?limit=2`);
    },
  ],
  [`GET ${sessions}/{id} 200`]: [async () => get(`${sessions}/${await session()}`)],
  [`GET ${sessions}/{id}/history 200`]: [async () => get(`${sessions}/${await session()}/history`)],
  [`GET ${sessions}/{id}/events 200`]: [
    async () => get(`${sessions}/${await session()}/events`),
    async () => get(`${sessions}/${await session()}/events?include_payload=1&limit=5`),
  ],
  [`PATCH ${sessions}/{id} 200`]: [
    async () => {
      const body = { title: 'A title' };
      expect(documentation.againstRequest(`PATCH ${sessions}/{id}`, body)).toEqual([]);
      return rig.ask(`${sessions}/${await session()}`, { method: 'PATCH', body });
    },
  ],
  [`DELETE ${sessions}/{id} 204`]: [
    async () => rig.ask(`${sessions}/${await session()}`, { method: 'DELETE' }),
  ],
  'GET /api/v1/stream/sse 200': [async () => get(`/api/v1/stream/sse?workflow_id=${await finished()}`)],
  'GET /api/v1/stream/sse 204': [
    async () => {
      const id = await finished();
      const doneId = (await rig.events.bounds(id))?.end?.stream_id ?? '';
      return get(`/api/v1/stream/sse?workflow_id=${id}`, { 'Last-Event-ID': doneId });
    },
  ],
  'GET /health 200': [() => get('/health')],
  'GET /readiness 200': [() => get('/readiness')],
  'GET /metrics 200': [() => get('/metrics')],
  'GET /openapi.json 200': [() => get('/openapi.json')],
};

describe('answers of the gateway', () => {
  test('are all that the document promises', () => {
    expect(Object.keys(ANSWERS).toSorted()).toEqual(documentation.answers.toSorted());
  });

  test.each(Object.entries(ANSWERS))(
    '%s: status, headers and every field are as documented',
    async (name, asks) => {
      const operation = name.slice(0, name.lastIndexOf(' '));
      for (const ask of asks) {
        const answer = await ask();
        expect(`${operation} ${answer.status}`, answer.text).toBe(name);
        expect(documentation.against(operation, answer)).toEqual([]);
      }
    },
  );

  test('errors are as documented', async () => {
    const id = await rig.review();
    const { task_id: unreviewed } = await rig.task();
    const errors: [string, number, Ask][] = [
      [`POST ${tasks}`, 400, () => rig.post(tasks, {})],
      [
        `POST ${tasks}`,
        415,
        () => rig.ask(tasks, { method: 'POST', raw: '{}', headers: { 'Content-Type': 'text/plain' } }),
      ],
      [`POST ${tasks}`, 413, () => rig.post(tasks, { query: 'x'.repeat(1_100_000) })],
      [`GET ${tasks}`, 400, () => get(`${tasks}?limit=101`)],
      [`GET ${tasks}/{id}`, 400, () => get(`${tasks}/a%20b`)],
      [`GET ${tasks}/{id}/events`, 404, () => get(`${tasks}/unknown/events`)],
      [`POST ${tasks}/{id}/resume`, 409, () => rig.post(`${tasks}/${id}/resume`, {})],
      [`GET ${tasks}/{id}/review`, 403, () => rig.ask(`${tasks}/${id}/review`, { key: rig.keys.bob })],
      [`GET ${tasks}/{id}/review`, 404, () => get(`${tasks}/${unreviewed}/review?wait=0`)],
      [
        `POST ${tasks}/{id}/review`,
        409,
        () => rig.post(`${tasks}/${id}/review`, { action: 'approve' }, { 'If-Match': '"7"' }),
      ],
      [`GET ${sessions}/{id}`, 404, () => get(`${sessions}/unknown`)],
      [`GET ${sessions}/{id}/events`, 400, () => get(`${sessions}/s/events?limit=0`)],
      [
        `PATCH ${sessions}/{id}`,
        400,
        () => rig.ask(`${sessions}/s`, { method: 'PATCH', body: { title: '' } }),
      ],
      [`GET ${tasks}/{id}/review/diff`, 400, () => get(`${tasks}/${id}/review/diff?from=1&to=9`)],
      [
        `POST ${tasks}`,
        422,
        async () => {
          await rig.post(tasks, { query: 'x' }, { 'Idempotency-Key': 'k' });
          return rig.post(tasks, { query: 'y' }, { 'Idempotency-Key': 'k' });
        },
      ],
      ['GET /api/v1/stream/sse', 400, () => get('/api/v1/stream/sse')],
    ];
    for (const [operation, status, ask] of errors) {
      const answer = await ask();
      expect([operation, answer.status, answer.text]).toEqual([operation, status, expect.any(String)]);
      expect(documentation.against(operation, answer)).toEqual([]);
    }
  });

  test('errors of parts that are away are as documented', async () => {
    const alone = await startRig({ redis: rig.redisServer });
    try {
      for (const [operation, answer] of [
        ['GET /readiness', await alone.ask('/readiness')],
        [`POST ${tasks}`, await alone.post(tasks, { query: 'x' })],
      ] as const) {
        expect(answer.status).toBe(503);
        expect(documentation.against(operation, answer)).toEqual([]);
      }
    } finally {
      await alone.stop();
    }
  });

  test('events on a stream are those of the document', async () => {
    const { text } = await get(`/api/v1/stream/sse?workflow_id=${await finished()}`);
    const events = text.matchAll(/^data: (\{.*)$/gm).map(([, json = '']) => JSON.parse(json));
    const types = events.map((event) => {
      expect(documentation.againstSchema('WorkflowEvent', event)).toEqual([]);
      return event.type;
    });
    expect([...types]).toEqual(['PROGRESS', 'WORKFLOW_COMPLETED']);
  });
});

describe('requests', () => {
  const wrong: [string, unknown][] = [
    [tasks, {}],
    [tasks, { query: 7 }],
    [tasks, { query: 'x'.repeat(10_001) }],
    [tasks, { query: 'x', mode: 'fast' }],
    [tasks, { query: 'x', context: [] }],
    [tasks, { query: 'x', max_iterations: 51 }],
    [`${tasks}/{id}/review`, { action: 'aprove' }],
    [`${tasks}/{id}/review`, { action: 'feedback' }],
    [`${tasks}/{id}/review`, { action: 'extend', seconds: 0 }],
    [`${tasks}/{id}/pause`, { reason: 7 }],
  ];
  test.each(wrong)('%s: the document and the gateway refuse the same body (case %#)', async (path, body) => {
    expect(documentation.againstRequest(`POST ${path}`, body)).not.toEqual([]);
    const { task_id } = await rig.task();
    expect((await rig.post(path.replace('{id}', task_id), body)).status).toBe(400);
  });
});
