import type { CallOrder } from './next-step.ts';
import { notApprovedText } from './texts.ts';

/**
 * The last gate, in front of the tool itself: the text that answers an order which may not run, or null. A call
 * that is gated, by its record or by the executor's own settings, runs only with a recorded approval or edit; a
 * rejected call never does.
 * @param gatedNow whether the executor's own settings gate the tool
 */
export function refusalOf({ call, gated, decision }: CallOrder, gatedNow: boolean): string | null {
  const approved = decision === 'approve' || decision === 'edit';
  const free = !gated && !gatedNow && decision === null;
  return approved || free ? null : notApprovedText(call.name);
}
