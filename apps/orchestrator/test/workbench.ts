import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  approvalSignal,
  CANCEL_SIGNAL,
  type CancelSignal,
  RESEARCH_WORKFLOW,
  TASK_WORKFLOW,
  type TaskInput,
  type WorkflowId,
} from '@plangate/contracts';
import { type Stack, startStack } from '@plangate/devstack';
import { EventLog } from '@plangate/events/redis';
import { connectRedis } from '@plangate/redis';
import type { ReviewState } from '@plangate/review';
import { ReviewStore, reviewKeys } from '@plangate/review/redis';
import type { Caller, Deliver } from '@plangate/review/use-cases';
import { configFile, loadStrategies } from '@plangate/service';
import { newRecord, readSubmission, type TaskRecord } from '@plangate/tasks';
import { TaskStore } from '@plangate/tasks/redis';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ulid } from 'ulid';
import { expect, inject, vi } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../../llm-service/test/scripted-provider.ts';

export const OWNER = { user: 'ada', tenant: 'acme' };
export const CALLER: Caller = { owner: OWNER, authOff: false };

/** A plan, its questions and a report that a scripted model gives for the documents in `fixtures/documents`. */
export const PLAN = 'Explain what causes tides and how they are predicted.';
export const QUESTIONS = JSON.stringify({
  questions: [
    { id: 'q1', text: 'What causes tides?', terms: ['gravity', 'Moon', 'bulge'] },
    { id: 'q2', text: 'How are tides predicted?', terms: ['harmonic', 'analysis', 'constituents'] },
  ],
});
export const REPORT =
  '## Causes\n\nThe gravity of the Moon pulls the water of the oceans towards it and raises a bulge on the near side of the Earth [1].';
export const ready = (plan = PLAN) => ({ do: 'text', text: `${plan}\n[INTENT:ready]` }) as const;
export const text = (value: string) => ({ do: 'text', text: value }) as const;

export interface Workbench {
  stack: Stack;
  provider: ScriptedProvider;
  reviews: ReviewStore;
  tasks: TaskStore;
  events: EventLog;
  client: Client;
  /** Signals as the gateway does. */
  deliver: Deliver;
  submit(context: Record<string, unknown>): Promise<Run>;
  /** Takes a review out of the store, as if it had come back from older data. */
  forget(id: WorkflowId): Promise<void>;
  stop(): Promise<void>;
}

/** One submitted task. */
export interface Run {
  id: WorkflowId;
  input: TaskInput;
  handle: WorkflowHandle;
  cancel(signal?: CancelSignal): Promise<void>;
  /** Waits until the review is open. */
  opened(): Promise<ReviewState>;
  /** Waits for the run's end; the record as it is then. */
  ended(): Promise<TaskRecord>;
  types(): Promise<string[]>;
}

/** Orchestrator and llm-service as processes, with a model that answers by script. */
export async function startWorkbench(): Promise<Workbench> {
  const provider = await startScriptedProvider();
  const folder = await mkdtemp(join(tmpdir(), 'plangate-workbench-'));
  const settingsFile = join(folder, 'plangate.yaml');
  await writeFile(settingsFile, settingsYaml(provider.url));
  const temporalAddress = inject('temporalAddress');
  const stack = await startStack({
    apps: ['llm-service', 'orchestrator'],
    temporalAddress,
    settingsFile,
    env: { MODEL_PROVIDER: 'scripted' },
  });
  const redis = connectRedis(stack.redis.url);
  await vi.waitUntil(() => redis.status === 'ready');
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  const reviews = new ReviewStore(redis);
  const tasks = new TaskStore(redis);
  const events = new EventLog(redis, { keep: 1_000 });
  const presets = loadStrategies(configFile('research_strategies.yaml'));

  async function submit(context: Record<string, unknown>): Promise<Run> {
    const read = readSubmission(
      { query: 'How do tides work?', context },
      { defaultTimeoutSeconds: 900, maxTimeoutSeconds: 2_592_000, maxRounds: 10 },
      presets,
    );
    if (!read.ok) throw new Error(read.error);
    const id = `task-${ulid()}` as WorkflowId;
    const now = new Date();
    const record = newRecord({
      submission: read.submission,
      workflowId: id,
      owner: OWNER,
      sessionId: 's',
      token: ulid(),
      now,
    });
    await tasks.create(record);
    const type = record.kind === 'research' ? RESEARCH_WORKFLOW : TASK_WORKFLOW;
    const handle = await client.workflow.start(type, {
      workflowId: id,
      taskQueue: stack.env['TEMPORAL_TASK_QUEUE'] ?? '',
      args: [record.input],
    });
    return {
      id,
      input: record.input,
      handle,
      cancel: (signal = { reason: '', by: 'ada' }) => handle.signal(CANCEL_SIGNAL, signal),
      opened: () =>
        vi.waitUntil(async () => (await reviews.load(id)).state, { timeout: 20_000, interval: 50 }),
      async ended() {
        await handle.result();
        const ended = await tasks.load(id);
        expect(ended).not.toBeNull();
        return ended as TaskRecord;
      },
      types: async () => (await events.read(id, { limit: 200 })).map(({ type }) => type),
    };
  }

  const deliver: Deliver = async (id, decision) => {
    await client.workflow.getHandle(id).signal(approvalSignal(id), {
      approved: decision.action === 'approve',
      decision_id: decision.id,
      version: decision.version,
      plan_sha256: decision.plan_sha256,
      approved_by: decision.by,
    });
    return 'sent';
  };

  return {
    stack,
    provider,
    reviews,
    tasks,
    events,
    client,
    deliver,
    submit,
    async forget(id) {
      const { review, commands, plans } = reviewKeys(id);
      await redis.del(review, commands, plans);
    },
    async stop() {
      redis.disconnect();
      await connection.close();
      await stack.stop();
      await provider.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The product's own settings, with a model and documents of the test's. */
function settingsYaml(url: string): string {
  return `
documents:
  folders:
    - path: apps/orchestrator/test/fixtures/documents
models:
  timeout_seconds: 5
  providers:
    scripted:
      kind: openai-compatible
      base_url: ${url}
      tiers: { small: scripted, medium: scripted, large: scripted }
`;
}

/** Where the recorded histories of the replay test are. */
export const HISTORIES = new URL('./histories/', import.meta.url);

/** The recorded history of a path, as JSON. */
export async function readHistory(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`${name}.json`, HISTORIES), 'utf8'));
}
