import { type Refusal, refuse, type WorkflowId } from '@plangate/contracts';
import type { Command } from '../commands.ts';
import { decide } from '../machine.ts';
import type { ReviewState } from '../state.ts';
import type { Pace } from './pace.ts';
import type { Result, Store } from './ports.ts';

/** How often a command is decided again when another one came first. */
const MOST_ATTEMPTS = 20;

export interface Attempt {
  commandId: string;
  /** Looked at before each decision: access, for example. */
  guard?: (state: ReviewState | null) => Refusal | null;
  pace?: Pace;
}

/**
 * Decides a command on the state as it is and commits it if nobody came first; else decides it again on the fresh
 * state, under the same command id, so that a commit whose reply was lost is not made twice.
 * @param command built anew from each state that is seen
 * @returns the state after the command, and whether this command changed it
 */
export async function transact(
  store: Store,
  workflowId: WorkflowId,
  attempt: Attempt,
  command: (state: ReviewState | null) => Command,
): Promise<Result<{ state: ReviewState; changed: boolean }>> {
  for (let n = 0; n < MOST_ATTEMPTS; n += 1) {
    const situation = await store.load(workflowId);
    const refusal = attempt.guard?.(situation.state);
    if (refusal) return refusal;
    const outcome = decide(situation, command(situation.state));
    if (!outcome.ok) return outcome;
    if (!outcome.transition) return { ok: true, state: outcome.state, changed: false };
    const stalled = attempt.pace?.check();
    if (stalled) return stalled;
    const expected = situation.state?.version ?? 0;
    const commit = await store.commit(workflowId, attempt.commandId, expected, outcome.transition);
    if (commit.result === 'committed') return { ok: true, state: outcome.state, changed: true };
    if (commit.result === 'repeated') {
      const { state } = await store.load(workflowId);
      if (state) return { ok: true, state, changed: true };
    }
  }
  return refuse(503, 'too_busy', 'The review is changing too fast; please try again');
}
