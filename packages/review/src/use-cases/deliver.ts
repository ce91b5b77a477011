import type { WorkflowId } from '@plangate/contracts';
import { isWithdrawn } from '../machine.ts';
import type { ReviewState } from '../state.ts';
import type { Deliver, Store } from './ports.ts';
import { transact } from './transact.ts';

export interface Delivery {
  /** Nothing is left to tell, or the engine has been told. */
  delivered: boolean;
  /** The state after an approval was taken back, by whomever: its run is over without having known it. */
  withdrawn: ReviewState | null;
}

/**
 * Tells the workflow of a recorded decision that it does not know yet; may be called any number of times. A run
 * that is over has acknowledged all that it acted upon: an approval that is still undelivered then is taken back,
 * a rejection or a cancel is done.
 */
export async function deliverDecision(
  ports: { store: Store; deliver: Deliver },
  workflowId: WorkflowId,
): Promise<Delivery> {
  const { state, undelivered } = await ports.store.load(workflowId);
  const decision = state?.decision;
  if (!decision || undelivered !== decision.id) {
    // Another decision stands in the place of one that was never told.
    if (undelivered !== null) await ports.store.acknowledge(workflowId, undelivered, []);
    return { delivered: true, withdrawn: withdrawnOf(state) };
  }
  const outcome = await ports.deliver(workflowId, decision);
  if (outcome === 'sent') return { delivered: true, withdrawn: null };
  if (outcome === 'unreachable') return { delivered: false, withdrawn: null };

  const after = await ports.store.load(workflowId);
  if (after.undelivered !== decision.id) return { delivered: true, withdrawn: withdrawnOf(after.state) };
  if (decision.action !== 'approve') {
    await ports.store.acknowledge(workflowId, decision.id, []);
    return { delivered: true, withdrawn: null };
  }
  const commandId = `withdraw:${decision.id}`;
  const taken = await transact(ports.store, workflowId, { commandId }, () => ({
    type: 'withdraw',
    decisionId: decision.id,
  }));
  if (!taken.ok) return { delivered: false, withdrawn: null };
  return { delivered: true, withdrawn: withdrawnOf(taken.state) };
}

function withdrawnOf(state: ReviewState | null): ReviewState | null {
  return state && isWithdrawn(state) ? state : null;
}
