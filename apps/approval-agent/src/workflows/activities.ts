import type { CallOrder, CallResult } from '@plangate/tool-approval';
import { failedText } from '@plangate/tool-approval';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  log,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { INTERRUPTED, type ModelFault, type ThreadActivities, type TurnLimits } from '../thread-contract.ts';

/** A process that died is noticed by its missing heartbeat. */
const HEARTBEAT = '10 seconds';

/** Asks the model; while llm-service is away for some seconds, and after a crash, again. */
export const { askModel } = proxyActivities<ThreadActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '500 milliseconds', maximumInterval: '4 seconds', maximumAttempts: 5 },
});

/**
 * Runs a call of a tool: scheduled once, with one attempt. `interrupted`: it was begun, and nobody knows how far it
 * came. While no worker is there a call that has not begun waits.
 */
export async function runTool(order: CallOrder, limits: TurnLimits): Promise<CallResult | 'interrupted'> {
  const activities = proxyActivities<ThreadActivities>({
    startToCloseTimeout: `${limits.toolTimeoutSeconds} seconds`,
    heartbeatTimeout: HEARTBEAT,
    retry: { maximumAttempts: 1 },
  });
  try {
    return await activities.runTool(order, workflowInfo().workflowId);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    log.warn('a call did not end', { tool: order.call.name, reason: cause?.message });
    if (cause instanceof TimeoutFailure || cause instanceof CancelledFailure) return 'interrupted';
    if (cause instanceof ApplicationFailure && cause.type === INTERRUPTED) return 'interrupted';
    return { content: failedText(order.call.name), status: 'error', threw: true };
  }
}

const FAULTS: readonly string[] = ['not_configured', 'away', 'failed'] satisfies ModelFault[];

/** Why the model gave no reply; null for an error that is none of the model. */
export function modelFaultOf(error: unknown): ModelFault | null {
  if (!(error instanceof ActivityFailure)) return null;
  const { cause } = error;
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return FAULTS.includes(type ?? '') ? (type as ModelFault) : 'failed';
}
