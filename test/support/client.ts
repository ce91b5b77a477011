import type { ReviewBody, TaskBody, WorkflowEvent } from '@plangate/contracts';
import { until } from './until.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  json: any;
}

export interface Asking {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string;
}

/** The public HTTP API as a client uses it. */
export interface Client {
  ask(path: string, asking?: Asking): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Submits a task that must be accepted; its id. */
  submit(query: string, context?: Record<string, unknown>, more?: Record<string, unknown>): Promise<string>;
  /** The review, as soon as it is there. */
  review(id: string): Promise<ReviewBody>;
  /** A review action. */
  act(id: string, body: Record<string, unknown>, ifMatch?: string): Promise<Answer>;
  approve(id: string, ifMatch?: string): Promise<Answer>;
  feedback(id: string, message: string, ifMatch?: string): Promise<Answer>;
  /** `cancel`, `pause` or `resume`. */
  control(id: string, action: string, reason?: string): Promise<Answer>;
  task(id: string): Promise<TaskBody>;
  /** The task once it has its end; a test that waits for less says so itself. */
  ended(id: string): Promise<TaskBody>;
  /** All events so far, as stored. */
  events(id: string): Promise<WorkflowEvent[]>;
  types(id: string): Promise<string[]>;
  /** Waits until an event of this type was published. */
  published(id: string, type: string): Promise<void>;
}

export const taskPath = (id: string, suffix = '') => `/api/v1/tasks/${id}${suffix}`;
const OVER = ['TASK_STATUS_COMPLETED', 'TASK_STATUS_FAILED', 'TASK_STATUS_CANCELLED', 'TASK_STATUS_TIMEOUT'];

export function connectClient(url: string): Client {
  async function ask(
    path: string,
    { method = 'GET', headers = {}, body, raw }: Asking = {},
  ): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : null,
    };
  }
  const post = (path: string, body: unknown, headers = {}) => ask(path, { method: 'POST', body, headers });
  const act = (id: string, body: Record<string, unknown>, ifMatch?: string) =>
    post(taskPath(id, '/review'), body, ifMatch === undefined ? {} : { 'If-Match': ifMatch });

  async function expectOk(answer: Promise<Answer>): Promise<Answer['json']> {
    const { status, json, text } = await answer;
    if (status !== 200) throw new Error(`${status} ${text}`);
    return json;
  }
  const task = (id: string): Promise<TaskBody> => expectOk(ask(taskPath(id)));
  async function events(id: string): Promise<WorkflowEvent[]> {
    return (await expectOk(ask(taskPath(id, '/timeline')))).events;
  }
  const types = async (id: string): Promise<string[]> => (await events(id)).map(({ type }) => type);

  return {
    ask,
    post,
    submit: async (query, context = {}, more = {}) =>
      (await expectOk(post('/api/v1/tasks', { query, context, ...more }))).task_id,
    review: (id) => expectOk(ask(taskPath(id, '/review'))),
    act,
    approve: (id, ifMatch) => act(id, { action: 'approve' }, ifMatch),
    feedback: (id, message, ifMatch) => act(id, { action: 'feedback', message }, ifMatch),
    control: (id, action, reason) => post(taskPath(id, `/${action}`), reason === undefined ? {} : { reason }),
    task,
    async ended(id) {
      await until(async () => OVER.includes((await task(id)).status), 60_000);
      return task(id);
    },
    events,
    types,
    published: (id, type) => until(async () => (await types(id)).includes(type)),
  };
}
