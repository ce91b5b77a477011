import { type AuditChain, type Refusal, refuse, type WorkflowId } from '@plangate/contracts';
import { ANOTHER_USER, type AuditFacts, chainEntry } from '../audit.ts';
import type { Command } from '../commands.ts';
import { decide, type Situation } from '../machine.ts';
import type { ReviewState } from '../state.ts';
import type { Pace } from './pace.ts';
import type { Caller, IdempotencyRecord, Result, Store } from './ports.ts';
import { sha256 } from './sha256.ts';

/** How often a command is decided again when another one came first. */
const MOST_ATTEMPTS = 20;
const SYSTEM = 'system';
const FORBIDDEN = 403;
const OUTCOME_OPEN = 'The outcome of this request is not known; please read the review again';

export interface Attempt {
  /** Of a person's request nobody else's; what the system does by itself may be known under it to others too. */
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
    const facts = factsOf('accepted', asked, attempt.caller, situation, { state: outcome.state, code: 'ok' });
    const commit = await store.commit(workflowId, {
      commandId: attempt.commandId,
      expectedVersion: situation.state?.version ?? 0,
      transition: outcome.transition,
      audit: chainEntry(situation.audit, facts, sha256),
      idempotency: attempt.idempotency?.(outcome.state) ?? null,
    });
    if (commit.result === 'committed') {
      return { ok: true, state: outcome.state, changed: true, before: situation };
    }
    if (commit.result === 'over') return refuse(409, 'task_over', 'The task is over already');
    if (commit.result === 'repeated') {
      const { state: current } = await store.load(workflowId);
      const state = madeBefore(attempt, commit.version, { decided: outcome.state, current });
      if (state) return { ok: true, state, changed: true, before: situation };
      if (attempt.caller) return refuse(503, 'outcome_open', OUTCOME_OPEN, { version: current?.version });
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
  const chain = refusal.status === FORBIDDEN ? 'foreign' : 'refused';
  const facts = factsOf(chain, { type: action }, caller, situation, { state, code: refusal.code });
  // The owner learns that somebody tried, not who: nothing of one owner is visible to another.
  const shown = chain === 'foreign' ? { ...facts, by: ANOTHER_USER } : facts;
  await store.recordRefusal(workflowId, chain, (head) => chainEntry(head, shown, sha256));
}

/**
 * The state that a command left behind which happened before its reply was lost. Others may have come after it: a
 * person is answered with what the request made, never with a version of somebody else; the system by itself wants to
 * know what is true now.
 * @param decided what the rules made of the command in this attempt
 * @returns null where that is not known
 */
function madeBefore(
  { caller }: Attempt,
  version: number,
  { decided, current }: { decided: ReviewState; current: ReviewState | null },
): ReviewState | null {
  if (!caller || current?.version === version) return current;
  // The command is this request's alone, and a version has one state before it: there it was decided like this.
  return decided.version === version ? decided : null;
}

function factsOf(
  chain: AuditChain,
  command: { type: Command['type'] },
  caller: Caller | undefined,
  { now }: Situation,
  { state, code }: { state: ReviewState; code: string },
): AuditFacts {
  return {
    chain,
    at: new Date(now).toISOString(),
    by: caller?.owner.user ?? SYSTEM,
    action: ACTIONS[command.type],
    outcome: chain === 'accepted' ? 'accepted' : 'refused',
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
