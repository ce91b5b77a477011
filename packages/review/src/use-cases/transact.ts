import { type Refusal, refuse, type WorkflowId } from '@plangate/contracts';
import { type AuditFacts, chainEntry } from '../audit.ts';
import type { Command } from '../commands.ts';
import { decide, type Situation } from '../machine.ts';
import type { ReviewState } from '../state.ts';
import type { Pace } from './pace.ts';
import type { Caller, IdempotencyRecord, Result, Store } from './ports.ts';
import { sha256 } from './sha256.ts';

/** How often a command is decided again when another one came first. */
const MOST_ATTEMPTS = 20;
const SYSTEM = 'system';
const STRANGER = 'another user';
const FORBIDDEN = 403;

export interface Attempt {
  commandId: string;
  /** Who asked; absent: nobody, the system does it by itself. */
  caller?: Caller;
  /** Looked at before each decision: access, for example. */
  guard?: (state: ReviewState | null) => Refusal | null;
  pace?: Pace;
  /** The record of the request's Idempotency-Key, made from the state after the command. */
  idempotency?: ((state: ReviewState) => IdempotencyRecord | null) | undefined;
}

/**
 * Decides a command on the state as it is and commits it if nobody came first; else decides it again on the fresh
 * state, under the same command id, so that a commit whose reply was lost is not made twice. Every step is audited
 * with the step itself, every refusal beside it.
 * @param command built anew from each state that is seen
 * @returns the state after the command, whether this command changed it, and what it was decided on
 */
export async function transact(
  store: Store,
  workflowId: WorkflowId,
  attempt: Attempt,
  command: (state: ReviewState | null) => Command,
): Promise<Result<{ state: ReviewState; changed: boolean; before: Situation }>> {
  for (let n = 0; n < MOST_ATTEMPTS; n += 1) {
    const situation = await store.load(workflowId);
    const asked = command(situation.state);
    const outcome = attempt.guard?.(situation.state) ?? decide(situation, asked);
    if (!outcome.ok) {
      await auditRefusal(store, workflowId, attempt.caller, asked.type, situation, outcome);
      return outcome;
    }
    if (!outcome.transition) return { ok: true, state: outcome.state, changed: false, before: situation };
    const stalled = attempt.pace?.check();
    if (stalled) return stalled;
    const expected = situation.state?.version ?? 0;
    const facts = factsOf(asked, attempt.caller, situation, { state: outcome.state, code: 'ok' });
    const entry = chainEntry(situation.audit, facts, sha256);
    const { commandId, idempotency } = attempt;
    const record = idempotency?.(outcome.state) ?? null;
    const commit = await store.commit(workflowId, commandId, expected, outcome.transition, entry, record);
    if (commit.result === 'committed') {
      return { ok: true, state: outcome.state, changed: true, before: situation };
    }
    if (commit.result === 'over') return refuse(409, 'task_over', 'The task is over already');
    if (commit.result === 'repeated') {
      const { state } = await store.load(workflowId);
      if (state) return { ok: true, state, changed: true, before: situation };
    }
  }
  return refuse(503, 'too_busy', 'The review is changing too fast; please try again');
}

/** Notes what a person was refused; a review that does not exist has no audit. */
export async function auditRefusal(
  store: Store,
  workflowId: WorkflowId,
  caller: Caller | undefined,
  action: Command['type'],
  situation: Situation,
  refusal: Refusal,
): Promise<void> {
  const { state } = situation;
  if (!state || !caller) return;
  const facts = factsOf({ type: action }, caller, situation, { state, code: refusal.code });
  if (refusal.status !== FORBIDDEN) {
    await store.recordRefusal(workflowId, 'refused', (head) => chainEntry(head, facts, sha256));
    return;
  }
  // The owner learns that somebody tried, not who: nothing of one owner is visible to another.
  const nameless = { ...facts, by: STRANGER };
  await store.recordRefusal(workflowId, 'foreign', (head) => chainEntry(head, nameless, sha256));
}

function factsOf(
  command: { type: Command['type'] },
  caller: Caller | undefined,
  { now }: Situation,
  { state, code }: { state: ReviewState; code: string },
): AuditFacts {
  return {
    at: new Date(now).toISOString(),
    by: caller?.owner.user ?? SYSTEM,
    action: ACTIONS[command.type],
    outcome: code === 'ok' ? 'accepted' : 'refused',
    code,
    version: state.version,
    request_id: caller?.requestId ?? '',
    ...(state.plan_sha256 ? { plan_sha256: state.plan_sha256 } : {}),
  };
}

/** The names of the commands on the wire. */
const ACTIONS: Record<Command['type'], string> = {
  create: 'open',
  begin_feedback: 'feedback',
  commit_feedback: 'feedback',
  edit: 'edit',
  approve: 'approve',
  reject: 'reject',
  extend: 'extend',
  cancel: 'cancel',
  close: 'time_out',
  withdraw: 'withdraw',
  settle: 'restore',
};
