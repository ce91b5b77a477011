import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HitlAnswer, Message } from '@plangate/contracts';
import { type Stack, startStack } from '@plangate/devstack';
import { SKIP_AUTH_TENANT, SKIP_AUTH_USER } from '@plangate/http';
import { PROJECT_FOLDER } from '@plangate/service';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { simpleParser } from 'mailparser';
import { expect, inject } from 'vitest';
import { threadWorkflowId } from '../src/thread-id.ts';
import { type ScriptedLlm, startScriptedLlm } from './scripted-llm.ts';
import { startToolServer, type ToolServer } from './tool-server.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into
  body: any;
}

/** The approval agent as a process, with a scripted model and a tool behind HTTP. */
export interface Rig {
  stack: Stack;
  llm: ScriptedLlm;
  tool: ToolServer;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  chat(message: string, threadId?: string): Promise<Answer>;
  review(threadId: string, decisions: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A thread that waits for a person. */
  waiting(firstMessage: string): Promise<{ id: string; reviewId: string; body: HitlAnswer }>;
  messages(threadId: string): Promise<Message[]>;
  /** The e-mails that were written so far. */
  mails(to?: string): Promise<{ to: string; subject: string; text: string }[]>;
  /** Keeps the history of a thread's current run for the replay test when asked to: `RECORD_HISTORIES=1`. */
  keepHistory(name: string, threadId: string): Promise<void>;
  stop(): Promise<void>;
}

export interface RigOptions {
  /** Lines of `approval_agent`, each indented by two. */
  settings?: string;
  env?: Record<string, string>;
  skipAuth?: boolean;
  /** A Temporal server of its own, which may be stopped. */
  ownTemporal?: boolean;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const { settings = '', env = {}, skipAuth = true, ownTemporal = false } = options;
  const [llm, tool] = await Promise.all([startScriptedLlm(), startToolServer()]);
  const folder = await mkdtemp(join(tmpdir(), 'plangate-approval-'));
  const settingsFile = join(folder, 'plangate.yaml');
  await writeFile(settingsFile, settingsYaml(tool.url) + settings);
  const outbox = join(folder, 'outbox');
  const stack = await startStack({
    apps: ['approval-agent'],
    // With a folder the server keeps its threads over a restart.
    ...(ownTemporal ? { folder: join(folder, 'data') } : { temporalAddress: inject('temporalAddress') }),
    llmUrl: llm.url,
    settingsFile,
    skipAuth,
    env: { APPROVAL_AGENT_OUTBOX: outbox, ...env },
  });

  async function ask(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(stack.approvalUrl + path, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const get = (path: string, headers: Record<string, string> = {}) => ask(path, { headers });
  const chat = (message: string, threadId?: string) =>
    post('/hitl/chat', { message, ...(threadId === undefined ? {} : { thread_id: threadId }) });

  return {
    stack,
    llm,
    tool,
    post,
    get,
    chat,
    review: (threadId, decisions, headers) =>
      post('/hitl/review', { thread_id: threadId, decisions }, headers),
    async waiting(firstMessage) {
      const { status, body, headers } = await chat(firstMessage);
      expect([status, body.answer]).toEqual([200, null]);
      expect(body.pending_review).not.toBeNull();
      return { id: body.thread_id, reviewId: headers.get('x-review-id') ?? '', body };
    },
    async messages(threadId) {
      const { status, body } = await get(`/hitl/threads/${threadId}/messages`);
      expect(status).toBe(200);
      return body.messages;
    },
    async mails(to) {
      const files = await readdir(outbox).catch(() => []);
      const read = await Promise.all(
        files
          .filter((name) => name.endsWith('.eml'))
          .map(async (name) => simpleParser(await readFile(join(outbox, name)))),
      );
      return read
        .map(({ to: header, subject = '', text = '' }) => ({
          to: header
            ? [header]
                .flat()
                .map(({ text }) => text)
                .join()
            : '',
          subject,
          text: text.trim(),
        }))
        .filter((mail) => to === undefined || mail.to === to);
    },
    async keepHistory(name, threadId) {
      if (process.env['RECORD_HISTORIES'] !== '1') return;
      const connection = await Connection.connect({ address: stack.temporal.address });
      const owner = { user: SKIP_AUTH_USER, tenant: SKIP_AUTH_TENANT };
      const workflow = new Client({ connection }).workflow.getHandle(threadWorkflowId(owner, threadId));
      const json = historyToJSON(await workflow.fetchHistory())
        .replaceAll(PROJECT_FOLDER, '')
        .replaceAll(/("identity": )"[^"]*"/g, '$1"worker"');
      await writeFile(new URL(`./histories/${name}.json`, import.meta.url), `${json}\n`);
      await connection.close();
    },
    async stop() {
      await stack.stop();
      await Promise.all([llm.stop(), tool.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Two tools behind HTTP besides the built-in ones: `note` is gated, `look` is free. */
function settingsYaml(toolUrl: string): string {
  const tool = (name: string, approval: string) => `
    - name: ${name}
      description: Test tool.
      parameters: { type: object, properties: { n: { type: integer } }, required: [n] }
      url: ${toolUrl}/${name}
      method: POST
      approval: ${approval}`;
  return `
approval_agent:
  private_hosts: [127.0.0.1]
  tools:${tool('note', 'required')}${tool('look', 'never')}
`;
}
