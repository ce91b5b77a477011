import { refuse, type WorkflowId } from '@plangate/contracts';
import type { Situation } from '../machine.ts';
import { planApproved } from '../review-events.ts';
import type { Decision } from '../state.ts';
import type { Store } from './ports.ts';
import { hashText } from './sha256.ts';
import { auditRefusal, transact } from './transact.ts';

/**
 * The workflow acts upon `decision`, as its history says: acknowledges it and announces an approval. Idempotent,
 * so that an acknowledgement that was lost is made again. Where the store was restored from older data and does
 * not hold the decision, it is written back (design rule 5).
 * @param planText the plan decided on, as the workflow read it
 */
export async function settleDecision(
  store: Store,
  workflowId: WorkflowId,
  decision: Decision,
  planText: string,
): Promise<void> {
  const commandId = `settle:${decision.id}`;
  const settled = await transact(store, workflowId, { commandId }, () => ({
    type: 'settle',
    decision,
    plan: hashText(planText),
  }));
  // A store that lost the whole review has nothing to settle; the task's end is recorded all the same.
  if (!settled.ok && settled.code !== 'review_not_found') {
    throw new Error(`decision not settled: ${settled.code}: ${settled.error}`);
  }
  if (settled.ok && settled.changed) await auditSuperseded(store, workflowId, settled.before);
  await store.acknowledge(
    workflowId,
    decision.id,
    decision.action === 'approve' ? [planApproved(decision)] : [],
  );
}

/** A decision that was accepted on the older data was not acted upon: it is audited as refused. */
async function auditSuperseded(store: Store, workflowId: WorkflowId, before: Situation): Promise<void> {
  const lost = before.state?.decision;
  const owner = before.state?.owner;
  if (!lost || !owner) return;
  const caller = { owner: { ...owner, user: lost.by }, authOff: false };
  const refusal = refuse(409, 'decision_superseded', 'The workflow had acted upon another decision');
  await auditRefusal(store, workflowId, caller, lost.action, before, refusal);
}
