import {
  type ApprovalSignal,
  approvalSignal,
  CANCEL_SIGNAL,
  type CancelSignal,
  type WorkflowId,
} from '@plangate/contracts';
import type { Decision } from '@plangate/review';
import type { Deliver } from '@plangate/review/use-cases';
import type { TaskStore } from '@plangate/tasks/redis';
import type { Engine } from './engine.ts';

/**
 * Tells a workflow of a decision by its signal. A run that is not found is over only where the record says that it
 * had started, or holds its end; before that it may still be on its way (design rule 5). Many who approve at once
 * share one signal: a hundred of them could not all be sent in time.
 */
export function createDeliver(engine: Engine, tasks: TaskStore): Deliver {
  const underWay = new Map<string, ReturnType<Deliver>>();

  return (workflowId, decision) => {
    const key = `${workflowId} ${decision.id}`;
    const known = underWay.get(key);
    if (known) return known;
    const delivery = send(workflowId, decision).finally(() => underWay.delete(key));
    underWay.set(key, delivery);
    return delivery;
  };

  async function send(workflowId: WorkflowId, decision: Decision): ReturnType<Deliver> {
    const [signal, payload] = signalOf(workflowId, decision);
    const outcome = await engine.signal(workflowId, signal, payload);
    if (outcome !== 'not_found') return outcome;
    const [record] = await tasks.openStates([workflowId]);
    return record?.state === 'read' && (record.confirmed || record.ended) ? 'over' : 'unreachable';
  }
}

function signalOf(workflowId: string, decision: Decision): [string, ApprovalSignal | CancelSignal] {
  const { id, action, by, version, plan_sha256, reason } = decision;
  if (action === 'cancel') return [CANCEL_SIGNAL, { decision_id: id, reason: reason ?? '', by }];
  return [
    approvalSignal(workflowId),
    {
      approved: action === 'approve',
      decision_id: id,
      version,
      plan_sha256,
      approved_by: by,
      ...(reason ? { reason } : {}),
    },
  ];
}
