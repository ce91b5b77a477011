import { type Owner, WorkflowId } from '@plangate/contracts';
import { newRecord, readSubmission, type TaskRecord } from '../src/index.ts';
import { LIMITS, PRESETS } from './presets.ts';

export const ALICE: Owner = { user: 'alice', tenant: 'acme' };
export const BOB: Owner = { user: 'bob', tenant: 'acme' };

let made = 0;

/** A record as a submission makes it, with an id of its own. */
export function aRecord(
  given: {
    owner?: Owner;
    token?: string;
    now?: Date;
    sessionId?: string;
    body?: object;
    id?: WorkflowId;
  } = {},
): TaskRecord {
  made += 1;
  const answer = readSubmission(
    { query: 'What is new?', context: { require_review: true, note: 'n' }, ...given.body },
    LIMITS,
    PRESETS,
  );
  if (!answer.ok) throw new Error(answer.error);
  return newRecord({
    submission: answer.submission,
    workflowId: given.id ?? WorkflowId.parse(`task-${made}`),
    owner: given.owner ?? ALICE,
    sessionId: given.sessionId ?? 'session-1',
    token: given.token ?? 'token-1',
    now: given.now ?? new Date(),
  });
}
