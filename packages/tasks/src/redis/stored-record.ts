import type { WorkflowId } from '@plangate/contracts';
import { readStored, UnreadableStateError } from '@plangate/redis';
import { RECORD_VERSION, TaskRecord, TaskSummary } from '../record.ts';
import { taskKey } from './keys.ts';

type Hash = Record<string, string | null | undefined>;

/** Fields that a {@link TaskSummary} is read from; none of them is large. */
export const SUMMARY_FIELDS = [
  'v',
  'task_id',
  'query',
  'session_id',
  'mode',
  'kind',
  'status',
  'error',
  'created_at',
  'completed_at',
  'input_tokens',
  'output_tokens',
  'estimated_cost',
] as const;

/** The record as the fields of its hash; an absent field stands for null. */
export function toHash(record: TaskRecord): Record<string, string> {
  const { input, control } = record;
  return {
    v: String(RECORD_VERSION),
    task_id: record.task_id,
    tenant: record.owner.tenant,
    user: record.owner.user,
    query: record.query,
    session_id: record.session_id,
    mode: record.mode,
    kind: record.kind,
    // The caller's context and the review stand in it; what an approval adds is a field of its own.
    input: JSON.stringify(input),
    added_context: '{}',
    status: record.status,
    result: record.result,
    ...(record.error === null ? {} : { error: record.error }),
    created_at: record.created_at,
    updated_at: record.updated_at,
    ...(record.completed_at === null ? {} : { completed_at: record.completed_at }),
    start_token: record.start.token,
    start_confirmed: bit(record.start.confirmed),
    wanted: record.wanted,
    is_paused: bit(control.is_paused),
    is_cancelled: bit(control.is_cancelled),
    paused_at: control.paused_at,
    pause_reason: control.pause_reason,
    paused_by: control.paused_by,
    cancel_reason: control.cancel_reason,
    cancelled_by: control.cancelled_by,
    model_used: record.model_used,
    provider: record.provider,
    input_tokens: String(record.usage.input_tokens),
    output_tokens: String(record.usage.output_tokens),
    estimated_cost: String(record.usage.estimated_cost),
    metadata: JSON.stringify(record.metadata),
  };
}

/**
 * The record in a hash.
 * @throws {UnreadableStateError} where it has another version or breaks the schema
 */
export function fromHash(taskId: WorkflowId, hash: Hash): TaskRecord {
  checkVersion(taskId, hash['v']);
  return parse(taskId, TaskRecord, () => {
    const input = json(hash['input']) as TaskRecord['input'];
    return {
      ...summaryFields(hash),
      owner: { tenant: hash['tenant'], user: hash['user'] },
      context: { ...input.context, ...(json(hash['added_context']) as object) },
      review: input.review,
      input,
      result: hash['result'],
      updated_at: hash['updated_at'],
      start: { token: hash['start_token'], confirmed: hash['start_confirmed'] === '1' },
      control: {
        is_paused: hash['is_paused'] === '1',
        is_cancelled: hash['is_cancelled'] === '1',
        paused_at: hash['paused_at'],
        pause_reason: hash['pause_reason'],
        paused_by: hash['paused_by'],
        cancel_reason: hash['cancel_reason'],
        cancelled_by: hash['cancelled_by'],
      },
      wanted: hash['wanted'] ?? '',
      model_used: hash['model_used'],
      provider: hash['provider'],
      metadata: json(hash['metadata']),
    };
  });
}

/**
 * The summary in the values of {@link SUMMARY_FIELDS}; null where there is no record.
 * @throws {UnreadableStateError} where it has another version or breaks the schema
 */
export function fromSummary(taskId: WorkflowId, values: (string | null)[]): TaskSummary | null {
  if (values.every((value) => value === null)) return null;
  const hash: Hash = Object.fromEntries(SUMMARY_FIELDS.map((field, at) => [field, values[at]]));
  checkVersion(taskId, hash['v']);
  return parse(taskId, TaskSummary, () => summaryFields(hash));
}

/** @throws {UnreadableStateError} where the stored version is not the one of this code */
export function checkVersion(taskId: WorkflowId, version: string | null | undefined): void {
  if (version !== String(RECORD_VERSION)) {
    throw new UnreadableStateError(
      taskKey(taskId),
      `its version is ${version ?? 'missing'}, this is ${RECORD_VERSION}`,
    );
  }
}

function summaryFields(hash: Hash): Record<string, unknown> {
  const [input, output] = [Number(hash['input_tokens']), Number(hash['output_tokens'])];
  return {
    task_id: hash['task_id'],
    query: hash['query'],
    session_id: hash['session_id'],
    mode: hash['mode'],
    kind: hash['kind'],
    status: hash['status'],
    error: hash['error'] ?? null,
    created_at: hash['created_at'],
    completed_at: hash['completed_at'] ?? null,
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      estimated_cost: Number(hash['estimated_cost']),
    },
  };
}

function parse<T>(taskId: WorkflowId, schema: { parse: (value: unknown) => T }, build: () => unknown): T {
  return readStored(taskKey(taskId), () => schema.parse(build()));
}

function json(text: string | null | undefined): unknown {
  return JSON.parse(text ?? '');
}

function bit(value: boolean): string {
  return value ? '1' : '0';
}
