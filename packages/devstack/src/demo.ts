import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import {
  ApproveBody,
  FeedbackBody,
  ResearchMetadata,
  ReviewBody,
  SubmitTaskAnswer,
  TaskBody,
} from '@plangate/contracts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { type Api, connectApi, type Say } from './demo-client.ts';

const QUERY = 'How do these libraries handle retries, locks and time-outs?';
const FEEDBACK = 'Focus on ioredis, Temporal and redlock, and add a comparison of default values';

/** Longest time in milliseconds for the whole demo, model calls of a real provider included. */
const LIMIT_MS = 300_000;
const STORED_RESULT_LIMIT_MS = 10_000;

/**
 * Walks one task with a review from the question to the cited report, as any client would: through the public API.
 * @throws {Error} saying which step failed and what the gateway answered
 */
export async function runDemo(gatewayUrl: string, say: Say): Promise<void> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const api = connectApi(gatewayUrl, signal);
  const heading = (text: string) => say(styleText('bold', `\n== ${text}`));

  heading('A person asks');
  say(QUERY);
  const body = { query: QUERY, context: { require_review: true } };
  const task = await api.post('/api/v1/tasks', body, SubmitTaskAnswer);
  const path = `/api/v1/tasks/${task.body.task_id}`;

  heading('The planner proposes; nothing runs until the plan is approved');
  const first = await api.get(`${path}/review`, ReviewBody);
  say(first.body.current_plan || lastMessage(first.body));

  heading('The person gives feedback');
  say(FEEDBACK);
  const feedback = { action: 'feedback', message: FEEDBACK };
  const second = await api.post(`${path}/review`, feedback, FeedbackBody, first.etag);
  heading(`The planner revises (round ${second.body.round}, version ${second.body.version})`);
  say(second.body.plan.message);

  heading(`The person approves version ${second.etag}`);
  const approval = await api.post(`${path}/review`, { action: 'approve' }, ApproveBody, second.etag);
  say(approval.body.message);

  heading('Research');
  await followEvents(api, `/api/v1/stream/sse?workflow_id=${task.body.task_id}`, say);

  const done = await finished(() => api.get(path, TaskBody));
  if (done.status !== 'TASK_STATUS_COMPLETED' || done.result === '') {
    throw new Error(`the task ended as ${done.status}: ${done.error ?? 'without a report'}`);
  }
  heading('Report');
  say(done.result);
  const { citations, verification, plan_sha256, approved_by } = ResearchMetadata.parse(done.metadata);
  if (citations.length === 0) throw new Error('the report cites nothing');
  heading(`${citations.length} citations, each checked against its passage`);
  for (const { n, title, url, checked } of citations) {
    say(`[${n}] ${title} ${styleText('dim', url)}${checked ? '' : ' (not confirmed)'}`);
  }
  say(
    `\nClaims: ${verification.supported} of ${verification.claims} supported. ` +
      `Approved by ${approved_by}; the plan that ran has SHA-256 ${plan_sha256.slice(0, 12)}...`,
  );
}

/** Events whose text has been shown already, or comes as the report. */
const SHOWN_ELSEWHERE =
  /^(WORKFLOW_STARTED|RESEARCH_PLAN_(READY|UPDATED)|REVIEW_USER_FEEDBACK|thread\.message\..*)$/;

/** Shows the events of a workflow, one line each, to their end. */
async function followEvents(api: Api, path: string, say: Say): Promise<void> {
  const events = (await api.open(path))
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event = 'message', data } of events) {
    if (event === 'done') return;
    if (SHOWN_ELSEWHERE.test(event)) continue;
    const { message, agent_id } = JSON.parse(data) as { message: string; agent_id: string };
    say(`${event.padEnd(22)} ${styleText('dim', agent_id.padEnd(16))} ${firstLine(message)}`);
  }
  throw new Error('the event stream broke off before its end');
}

/** The task's record once it holds its end, which it does a moment before or after the last event. */
async function finished(read: () => Promise<{ body: TaskBody }>): Promise<TaskBody> {
  const end = performance.now() + STORED_RESULT_LIMIT_MS;
  for (;;) {
    const { body } = await read();
    if (!/QUEUED|RUNNING/.test(body.status)) return body;
    if (performance.now() > end) throw new Error(`the task is still ${body.status} after its last event`);
    await delay(100);
  }
}

function lastMessage({ rounds }: ReviewBody): string {
  return rounds.at(-1)?.message ?? '';
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
